//! A task's story: events, refusals and who looked at a number in one line of time, with the names of who did what.

use super::super::{
    answer_page::name_of,
    page::{When, Zone, words},
};
use crate::{
    domain::{
        admin::{AdminAction, AdminSubject},
        command::Actor,
        erase::EraseReason,
        id::{RiderId, StaffId, TaskId, Timestamp},
        refusal::{Code, Lang},
    },
    store::{self, Attempt, LoggedEvent, Names, Offered, Tx},
};

/// One line of the story.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: When,
    /// What happened, in words.
    pub(super) text: String,
    /// The revisions, or the code.
    pub(super) figures: String,
    /// Why, in words.
    pub(super) reason: Option<String>,
    /// Whether it is a refusal.
    pub(super) refused: bool,
}

/// Everything that happened to a task.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) events: Vec<LoggedEvent>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) offers: Vec<Offered>,
    /// What was done with its personal data.
    personal: Vec<LoggedEvent>,
    pub(super) names: Names,
}

impl Record {
    /// Reads it, in the snapshot of `tx`. `more` are riders and staff whose names are needed besides.
    pub(super) async fn read(
        tx: &mut Tx,
        task: crate::domain::id::TaskId,
        more: (Vec<RiderId>, Vec<StaffId>),
    ) -> store::Result<Self> {
        let events = tx.events_of(task).await?;
        let attempts = tx.attempts_of(task).await?;
        let offers = tx.offers_of(task).await?;
        let mut personal = tx.changes_of(AdminSubject::Task(task), MOST_PERSONAL).await?;
        personal.retain(|event| personal_words(event).is_some());
        let (mut riders, mut staff) = more;
        riders.extend(events.iter().filter_map(|event| event.rider_id.map(RiderId)));
        riders.extend(offers.iter().map(|offer| offer.rider));
        let by_event =
            events.iter().chain(&personal).map(|event| (&event.actor_kind, &event.actor_id));
        let by_attempt = attempts.iter().map(|attempt| (&attempt.actor_kind, &attempt.actor_id));
        for (kind, id) in by_event.chain(by_attempt) {
            match Actor::from_columns(kind, id.as_deref()) {
                Some(Actor::Rider(rider)) => riders.push(rider),
                Some(Actor::Staff(member)) => staff.push(member),
                Some(Actor::System | Actor::Intake(_) | Actor::Customer(_)) | None => {}
            }
        }
        riders.sort_unstable();
        riders.dedup();
        staff.sort_unstable();
        staff.dedup();
        let names = tx.names(&riders, &staff).await?;
        Ok(Self { events, attempts, offers, personal, names })
    }

    fn who(&self, kind: &str, id: Option<&str>, lang: Lang) -> String {
        let by = Actor::from_columns(kind, id).map_or_else(String::new, |actor| actor.to_string());
        name_of(&by, &self.names, lang)
    }

    /// The lines, the latest first.
    pub(super) fn lines(&self, zone: Zone, lang: Lang) -> Vec<Line> {
        // At the same instant in the order of the log, and refusals after what they were refused for.
        let of = |event: &LoggedEvent| (event.occurred_at, 0, event.number);
        let events = self.events.iter().map(|event| (of(event), self.event(event, zone, lang)));
        let personal =
            self.personal.iter().map(|event| (of(event), self.personal_line(event, zone, lang)));
        let refusals =
            self.attempts.iter().filter(|attempt| attempt.code != "done").map(|attempt| {
                ((attempt.at, 1, attempt.number), self.attempt(attempt, zone, lang))
            });
        let mut lines: Vec<_> = events.chain(personal).chain(refusals).collect();
        lines.sort_by_key(|(place, _)| *place);
        lines.into_iter().rev().map(|(_, line)| line).collect()
    }

    fn event(&self, event: &LoggedEvent, zone: Zone, lang: Lang) -> Line {
        let who = self.who(&event.actor_kind, event.actor_id.as_deref(), lang);
        let by_rider = event.actor_kind == "rider";
        let rider = event
            .rider_id
            .filter(|_| !by_rider)
            .map(|rider| name_of(&RiderId(rider).to_string(), &self.names, lang));
        let verb = words(lang, &format!("did-{}", event.action), &[]);
        let text = match rider {
            Some(rider) => {
                words(lang, "story-with-rider", &[("who", &who), ("did", &verb), ("rider", &rider)])
            }
            None => words(lang, "story", &[("who", &who), ("did", &verb)]),
        };
        let figures = match (event.from_revision, event.to_revision) {
            (Some(from), Some(to)) => format!("{from} → {to} · #{}", event.number),
            _ => format!("#{}", event.number),
        };
        let reason = event.reason.as_deref().map(|reason| reason_words(reason, lang));
        let reason = reason.or_else(|| super::reasons::figures(event, lang));
        Line { at: zone.when(Timestamp(event.occurred_at)), text, figures, reason, refused: false }
    }

    /// Who looked at a number and why, or that the personal data was erased.
    fn personal_line(&self, event: &LoggedEvent, zone: Zone, lang: Lang) -> Line {
        let who = self.who(&event.actor_kind, event.actor_id.as_deref(), lang);
        let did = words(lang, personal_words(event).unwrap_or_default(), &[]);
        let detail = detail(event);
        let text = |name: &str| detail[name].as_str().unwrap_or_default().to_owned();
        let numbers = text("numbers");
        let which = numbers.split(',').filter(|name| !name.is_empty());
        let which = which.map(|name| words(lang, &format!("reveal-which-{name}"), &[]));
        let why = Some(text("reason")).filter(|why| !why.is_empty());
        let why = why.map(|why| match EraseReason::parse(&why) {
            Some(_) => words(lang, &format!("erase-for-{why}"), &[]),
            None => words(lang, &format!("reveal-for-{why}"), &[]),
        });
        let parts: Vec<_> = which.chain(why).collect();
        Line {
            at: zone.when(Timestamp(event.occurred_at)),
            text: words(lang, "story", &[("who", &who), ("did", &did)]),
            figures: format!("#{}", event.number),
            reason: Some(parts.join(" · ")).filter(|text| !text.is_empty()),
            refused: false,
        }
    }

    fn attempt(&self, attempt: &Attempt, zone: Zone, lang: Lang) -> Line {
        let who = self.who(&attempt.actor_kind, attempt.actor_id.as_deref(), lang);
        let verb = words(lang, &format!("verb-{}", attempt.verb), &[]);
        let text = words(lang, "story-refused", &[("who", &who), ("verb", &verb)]);
        let sentence = Code::parse(&attempt.code).map(|code| code.sentence(lang).to_owned());
        let seen = attempt.revision_seen.map_or_else(String::new, |seen| format!(" · {seen}"));
        Line {
            at: zone.when(Timestamp(attempt.at)),
            text,
            figures: format!("{}{seen}", attempt.code),
            reason: sentence,
            refused: true,
        }
    }
}

/// The most that is read of what was done with a task's personal data.
const MOST_PERSONAL: i64 = 200;

fn detail(event: &LoggedEvent) -> serde_json::Value {
    serde_json::from_str(&event.detail).unwrap_or_default()
}

/// What was done with a task's personal data, as a key; none if the event is about something else of that number.
fn personal_words(event: &LoggedEvent) -> Option<&'static str> {
    let of_task = detail(event)["of"] == AdminSubject::Task(TaskId(event.subject)).kind();
    match AdminAction::parse(&event.action).filter(|_| event.kind == "admin" && of_task) {
        Some(AdminAction::Revealed) => Some("looked-at-number"),
        Some(AdminAction::Erased) => Some("erased-personal"),
        _ => None,
    }
}

/// The words of a reason's code; the code itself if a script made it up.
pub(super) fn reason_words(reason: &str, lang: Lang) -> String {
    let key = format!("reason-{reason}");
    if super::super::page::has_words(lang, &key) {
        words(lang, &key, &[])
    } else {
        reason.to_owned()
    }
}
