//! What an auditor looks for, as it was typed, and what of it can not be used.

use serde::Deserialize;

use super::super::super::{
    forms::Wrong,
    page::{Zone, encode},
    people::Seat,
};
use crate::{
    domain::{
        id::{RegionId, RiderId, StaffId, TaskId, Timestamp},
        seal::Book,
    },
    store::{self, Place, Search, Tx},
};

/// The kinds of actors, as the log spells them.
pub(super) const ACTORS: [&str; 5] = ["system", "intake", "customer", "rider", "staff"];
/// What is shown: all of it, or one kind of rows.
pub(super) const SHOWS: [&str; 3] = ["all", "events", "attempts"];
/// In the place of a region: what belongs to none.
pub(super) const NO_REGION: &str = "none";
/// The longest text that is looked for.
const LONGEST: usize = 64;

/// The fields of the form. What is empty does not count.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in super::super) struct Asked {
    pub(super) show: String,
    pub(super) task: String,
    pub(super) rider: String,
    pub(super) actor_kind: String,
    pub(super) actor: String,
    pub(super) what: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) region: String,
    /// Beyond which place.
    before: String,
    /// Which page that is.
    page: String,
}

/// How far a reader's right to the log goes.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    /// What belongs to these regions.
    pub(super) regions: &'a [RegionId],
    /// These are all that there are: then also what belongs to none, and so concerns every one of them.
    pub(super) every: bool,
}

impl<'a> Reach<'a> {
    /// That of a reader at `now`.
    ///
    /// # Errors
    /// Whatever the database says.
    pub(super) async fn of(seat: &'a Seat, tx: &mut Tx, now: Timestamp) -> store::Result<Self> {
        let regions = seat.caller.regions.as_slice();
        let all = tx.regions(now).await?;
        let every = all.iter().all(|found| regions.contains(&found.region.id));
        Ok(Self { regions, every })
    }
}

impl Asked {
    /// Which rows are shown.
    pub(super) fn shown(&self) -> &'static str {
        SHOWS.iter().find(|show| **show == self.show).unwrap_or(&SHOWS[0])
    }

    /// The fields of the form by name, with what was typed.
    fn fields(&self) -> [(&'static str, &str); 8] {
        [
            ("task", &self.task),
            ("rider", &self.rider),
            ("actor_kind", &self.actor_kind),
            ("actor", &self.actor),
            ("what", &self.what),
            ("from", &self.from),
            ("to", &self.to),
            ("region", &self.region),
        ]
        .map(|(name, value)| (name, value.trim()))
    }

    /// The names of the fields that narrow it down. What stands in them may be personal.
    pub(super) fn narrowed(&self) -> Vec<&'static str> {
        let typed = self.fields().into_iter().filter(|(_, value)| !value.is_empty());
        typed.map(|(name, _)| name).collect()
    }

    /// Whether anything narrows it down.
    pub(super) fn is_narrow(&self) -> bool {
        !self.narrowed().is_empty()
    }

    /// The same search as the query of a link, with other rows shown; it ends so that more can follow.
    pub(super) fn query(&self, show: &str) -> String {
        let mut query = format!("show={show}");
        for (name, value) in self.fields().into_iter().filter(|(_, value)| !value.is_empty()) {
            query.extend(["&", name, "=", &encode(value)]);
        }
        query
    }

    /// The page that a link says this is.
    pub(super) fn page(&self) -> u32 {
        self.page.parse().ok().filter(|page| *page > 0 && !self.before.is_empty()).unwrap_or(1)
    }

    /// Where the page starts.
    ///
    /// # Errors
    /// If the link was put together by hand.
    pub(super) fn start(&self, search: &Search) -> Result<Place, Wrong> {
        if self.before.is_empty() {
            return Ok(Place::start_of(search.until));
        }
        place(&self.before).ok_or(Wrong { field: "before", words: "wrong-before" })
    }

    /// What is looked for, among these regions, with times of `zone`.
    ///
    /// # Errors
    /// The first field that can not be used.
    pub(super) fn search(&self, reach: &Reach<'_>, zone: Zone) -> Result<Search, Wrong> {
        let kind = match self.actor_kind.as_str() {
            "" => None,
            kind => Some(
                ACTORS
                    .into_iter()
                    .find(|known| *known == kind)
                    .ok_or(Wrong { field: "actor_kind", words: "wrong-actor-kind" })?,
            ),
        };
        let instant =
            |field, text: &str| zone.instant(text).ok_or(Wrong { field, words: "wrong-time" });
        let from = typed(&self.from).map(|text| instant("from", text)).transpose()?;
        let until = typed(&self.to).map(|text| instant("to", text)).transpose()?;
        if from.zip(until).is_some_and(|(from, until)| from >= until) {
            return Err(Wrong { field: "to", words: "wrong-span" });
        }
        let (regions, of_no_region) = self.regions(reach)?;
        let fits = |what: &str| {
            what.len() <= LONGEST
                && what.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let what = typed(&self.what);
        if what.is_some_and(|what| !fits(what)) {
            return Err(Wrong { field: "what", words: "wrong-what" });
        }
        Ok(Search {
            regions,
            of_no_region,
            books: match self.shown() {
                "events" => vec![Book::Event],
                "attempts" => vec![Book::Attempt],
                _ => vec![Book::Event, Book::Attempt],
            },
            task: id(&self.task, TaskId::parse, Wrong { field: "task", words: "wrong-task" })?,
            rider: id(&self.rider, RiderId::parse, Wrong { field: "rider", words: "wrong-rider" })?,
            actor_kind: kind,
            actor_id: self.actor_id(kind)?,
            what: what.map(str::to_owned),
            from: from.unwrap_or(Timestamp(i64::MIN)),
            until: until.unwrap_or(Timestamp(i64::MAX)),
        })
    }

    /// The id within the kind, as the log has it.
    fn actor_id(&self, kind: Option<&str>) -> Result<Option<String>, Wrong> {
        let Some(text) = typed(&self.actor) else { return Ok(None) };
        let id = match kind {
            Some("rider") => RiderId::parse(text).map(|id| id.0.to_string()),
            Some("staff") => StaffId::parse(text).map(|id| id.0.to_string()),
            Some("customer") => TaskId::parse(text).map(|id| id.0.to_string()),
            Some("intake") => {
                (text.len() <= LONGEST && !text.contains('\0')).then(|| text.to_owned())
            }
            _ => None,
        };
        id.map(Some).ok_or(Wrong { field: "actor", words: "wrong-actor" })
    }

    /// Which regions, and whether what belongs to none.
    fn regions(&self, reach: &Reach<'_>) -> Result<(Vec<RegionId>, bool), Wrong> {
        let wrong = Wrong { field: "region", words: "wrong-region" };
        match typed(&self.region) {
            None => Ok((reach.regions.to_vec(), reach.every)),
            Some(NO_REGION) if reach.every => Ok((Vec::new(), true)),
            Some(text) => {
                let region = RegionId::parse(text).filter(|region| reach.regions.contains(region));
                Ok((vec![region.ok_or(wrong)?], false))
            }
        }
    }
}

fn typed(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn id<T>(text: &str, parse: fn(&str) -> Option<T>, wrong: Wrong) -> Result<Option<T>, Wrong> {
    typed(text).map(|text| parse(text).ok_or(wrong)).transpose()
}

/// A place as part of a link.
pub(super) fn link(place: Place) -> String {
    let book = if place.book == Book::Event { 'e' } else { 'a' };
    format!("{}{book}{}", place.at, place.number)
}

fn place(text: &str) -> Option<Place> {
    let (book, letter) = if text.contains('e') { (Book::Event, 'e') } else { (Book::Attempt, 'a') };
    let (at, number) = text.split_once(letter)?;
    Some(Place { at: at.parse().ok()?, book, number: number.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone() -> Zone {
        Zone { zone: chrono_tz::Asia::Shanghai, now: Timestamp(0) }
    }

    fn search(set: impl FnOnce(&mut Asked)) -> Result<Search, &'static str> {
        let mut asked = Asked::default();
        set(&mut asked);
        let reach = Reach { regions: &[RegionId(1), RegionId(2)], every: true };
        asked.search(&reach, zone()).map_err(|wrong| wrong.field)
    }

    #[test]
    fn places_come_back_from_links() {
        for place_of in [
            Place { at: 1_796_011_200_000, book: Book::Event, number: 77 },
            Place { at: -5, book: Book::Attempt, number: i64::MAX },
            Place::start_of(Timestamp(i64::MIN)),
        ] {
            assert_eq!(place(&link(place_of)), Some(place_of));
        }
        for wrong in ["", "e", "a", "1", "1e", "e1", "1x2", "1e2e3", "1e2 "] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_own_regions_are_searched() {
        let all = search(|_| ()).expect("all");
        assert_eq!((all.regions.len(), all.of_no_region), (2, true));
        let one = search(|asked| asked.region = "G2".into()).expect("one");
        assert_eq!((one.regions, one.of_no_region), (vec![RegionId(2)], false));
        let none = search(|asked| asked.region = "none".into()).expect("none");
        assert_eq!((none.regions.len(), none.of_no_region), (0, true));
        assert_eq!(search(|asked| asked.region = "G3".into()).err(), Some("region"));
    }

    #[test]
    fn what_concerns_the_whole_desk_is_for_whoever_has_every_region() {
        let reach = Reach { regions: &[RegionId(1)], every: false };
        let own = Asked::default().search(&reach, zone()).expect("their own");
        assert_eq!((own.regions, own.of_no_region), (vec![RegionId(1)], false));
        let none = Asked { region: "none".into(), ..Asked::default() };
        assert_eq!(none.search(&reach, zone()).err().map(|wrong| wrong.field), Some("region"));
    }

    #[test]
    fn what_can_not_be_used_is_named() {
        type Set = fn(&mut Asked);
        let wrong: [(&str, Set); 9] = [
            ("task", |asked| asked.task = "R1".into()),
            ("rider", |asked| asked.rider = "x".into()),
            ("actor_kind", |asked| asked.actor_kind = "ghost".into()),
            ("actor", |asked| asked.actor = "D1".into()),
            ("actor", |asked| (asked.actor_kind, asked.actor) = ("staff".into(), "R1".into())),
            ("actor", |asked| (asked.actor_kind, asked.actor) = ("system".into(), "1".into())),
            ("what", |asked| asked.what = "a b".into()),
            ("from", |asked| asked.from = "yesterday".into()),
            ("to", |asked| {
                (asked.from, asked.to) = ("2026-11-30T12:00".into(), "2026-11-30T12:00".into());
            }),
        ];
        for (field, set) in wrong {
            assert_eq!(search(set).err(), Some(field));
        }
        let good = search(|asked| {
            (asked.actor_kind, asked.actor) = ("staff".into(), " D7 ".into());
            (asked.from, asked.to) = ("2026-11-30T12:00".into(), "2026-11-30T12:01".into());
        });
        let good = good.expect("all good");
        assert_eq!(good.actor_id.as_deref(), Some("7"));
        assert_eq!((good.from.0, good.until.0), (1_796_011_200_000, 1_796_011_260_000));
    }
}
