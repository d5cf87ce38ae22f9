//! One row of the log in words, with the names of who did what.

use super::super::super::{
    answer_page::name_of,
    page::{When, Zone, has_words, words},
};
use super::super::story::reason_words;
use crate::{
    domain::{
        command::Actor,
        id::{RegionId, RiderId, StaffId, TaskId, Timestamp},
        refusal::{Code, Lang},
    },
    store::{self, Entry, LoggedEvent, NamedRegion, Names, Tx},
};

/// One row as it is shown.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) at: When,
    /// `event` or `attempt`.
    pub(super) book: &'static str,
    pub(super) number: i64,
    pub(super) task: Option<TaskId>,
    pub(super) who: String,
    pub(super) what: String,
    pub(super) rider: Option<String>,
    pub(super) revisions: Option<String>,
    /// The code of an attempt's answer.
    pub(super) code: Option<String>,
    /// Whether that was a refusal.
    pub(super) refused: bool,
    /// Why, in words.
    pub(super) why: Option<String>,
    /// What exactly, as the log has it.
    pub(super) detail: Option<String>,
    pub(super) region: Option<String>,
}

/// The names that the rows need.
pub(super) async fn names(tx: &mut Tx, entries: &[Entry]) -> store::Result<Names> {
    let (mut riders, mut staff) = (Vec::new(), Vec::new());
    for entry in entries {
        let (kind, id) = match entry {
            Entry::Event(event) => {
                riders.extend(event.rider_id.map(RiderId));
                (&event.actor_kind, &event.actor_id)
            }
            Entry::Attempt(attempt, _) => (&attempt.actor_kind, &attempt.actor_id),
        };
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
    tx.names(&riders, &staff).await
}

/// What a change of the desk was done to, by its number; none if it has a column of its own.
fn subject(event: &LoggedEvent) -> Option<String> {
    let detail = serde_json::from_str::<serde_json::Value>(&event.detail).ok();
    let of = detail.as_ref().and_then(|detail| detail.get("of")?.as_str());
    match (event.kind.as_str(), of) {
        ("admin", Some("staff")) => Some(StaffId(event.subject).to_string()),
        ("admin", Some("region")) | ("policy", _) => Some(RegionId(event.subject).to_string()),
        ("admin", Some("task")) => Some(TaskId(event.subject).to_string()),
        _ => None,
    }
}

/// How rows are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) names: &'a Names,
    pub(super) regions: &'a [NamedRegion],
    pub(super) zone: Zone,
    pub(super) lang: Lang,
}

impl Writer<'_> {
    pub(super) fn row(&self, entry: &Entry) -> Row {
        match entry {
            Entry::Event(event) => Row {
                at: self.zone.when(Timestamp(event.occurred_at)),
                book: "event",
                number: event.number,
                task: event.task_id.map(TaskId),
                who: self.who(&event.actor_kind, event.actor_id.as_deref()),
                what: match subject(event) {
                    Some(of) => format!("{} · {of}", self.what(&event.kind, &event.action)),
                    None => self.what(&event.kind, &event.action),
                },
                rider: event
                    .rider_id
                    .map(|rider| name_of(&RiderId(rider).to_string(), self.names, self.lang)),
                revisions: event
                    .from_revision
                    .zip(event.to_revision)
                    .map(|(a, b)| format!("{a} → {b}")),
                code: None,
                refused: false,
                why: event.reason.as_deref().map(|reason| reason_words(reason, self.lang)),
                // What a task's event makes of the row, its story tells.
                detail: (event.kind != "task").then(|| event.detail.clone()),
                region: self.region(event.region_id),
            },
            Entry::Attempt(attempt, region) => Row {
                at: self.zone.when(Timestamp(attempt.at)),
                book: "attempt",
                number: attempt.number,
                task: attempt.task_id.map(TaskId),
                who: self.who(&attempt.actor_kind, attempt.actor_id.as_deref()),
                what: self.what("task", &attempt.verb),
                rider: None,
                revisions: attempt.revision_seen.map(|seen| seen.to_string()),
                refused: !["done", "ALREADY_DONE", "ALREADY_YOURS"].contains(&&*attempt.code),
                why: Code::parse(&attempt.code).map(|code| code.sentence(self.lang).to_owned()),
                code: Some(attempt.code.clone()),
                detail: None,
                region: self.region(*region),
            },
        }
    }

    fn who(&self, kind: &str, id: Option<&str>) -> String {
        let by = Actor::from_columns(kind, id).map_or_else(
            || format!("{kind} {}", id.unwrap_or_default()),
            |actor| actor.to_string(),
        );
        name_of(&by, self.names, self.lang)
    }

    fn what(&self, kind: &str, action: &str) -> String {
        let key = match kind {
            "admin" => format!("audit-did-{action}"),
            "rider" => format!("did-{action}"),
            _ => format!("verb-{action}"),
        };
        if has_words(self.lang, &key) { words(self.lang, &key, &[]) } else { action.to_owned() }
    }

    fn region(&self, region: Option<i64>) -> Option<String> {
        let region = RegionId(region?);
        let found = self.regions.iter().find(|found| found.region.id == region);
        Some(found.map_or_else(|| region.to_string(), |found| found.name.clone()))
    }
}
