//! One row of the log as a line of a file.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use super::csv::{csv_number, csv_text};
use crate::{
    domain::id::{RegionId, RiderId, TaskId},
    store::Entry,
};

/// An instant in a zone, by RFC 3339.
pub(super) fn local(at: i64, zone: chrono_tz::Tz) -> String {
    let at_utc = DateTime::from_timestamp_millis(at);
    at_utc.map_or_else(String::new, |at| {
        at.with_timezone(&zone).to_rfc3339_opts(SecondsFormat::Millis, false)
    })
}

/// The headings of a table.
pub(super) const HEADINGS: [&str; 21] = [
    "record",
    "number",
    "at",
    "at_ms",
    "region",
    "task",
    "kind",
    "subject",
    "action",
    "code",
    "actor_kind",
    "actor_id",
    "rider",
    "from_revision",
    "to_revision",
    "revision_seen",
    "mode",
    "reason",
    "key_hash",
    "event_id",
    "detail",
];

/// One row of the log.
#[derive(Debug, Default, Serialize)]
pub(super) struct Line<'a> {
    record: &'static str,
    number: i64,
    at: String,
    at_ms: i64,
    region: Option<String>,
    task: Option<String>,
    kind: Option<&'a str>,
    subject: Option<i64>,
    action: &'a str,
    code: Option<&'a str>,
    actor_kind: &'a str,
    actor_id: Option<&'a str>,
    rider: Option<String>,
    from_revision: Option<i64>,
    to_revision: Option<i64>,
    revision_seen: Option<i64>,
    mode: Option<&'a str>,
    reason: Option<&'a str>,
    key_hash: Option<&'a str>,
    event_id: Option<&'a str>,
    detail: Option<&'a str>,
}

/// The last line.
#[derive(Debug, Serialize)]
pub(super) struct Ending<'a> {
    pub(super) record: &'static str,
    /// Number and digest of the last seal, for `dispatch-desk audit verify --head-file`.
    pub(super) head: Option<String>,
    pub(super) mac: Option<&'a str>,
    pub(super) key_id: Option<&'a str>,
    pub(super) last_event: Option<i64>,
    pub(super) last_attempt: Option<i64>,
    pub(super) rows: u64,
    pub(super) at: String,
}

impl<'a> Line<'a> {
    /// A row, with its time in `zone`.
    pub(super) fn of(entry: &'a Entry, zone: chrono_tz::Tz) -> Self {
        let region = |region: i64| RegionId(region).to_string();
        let task = |task: i64| TaskId(task).to_string();
        match entry {
            Entry::Event(event) => Self {
                record: "event",
                number: event.number,
                at: local(event.occurred_at, zone),
                at_ms: event.occurred_at,
                region: event.region_id.map(region),
                task: event.task_id.map(task),
                kind: Some(&event.kind),
                subject: Some(event.subject),
                action: &event.action,
                actor_kind: &event.actor_kind,
                actor_id: event.actor_id.as_deref(),
                rider: event.rider_id.map(|rider| RiderId(rider).to_string()),
                from_revision: event.from_revision,
                to_revision: event.to_revision,
                mode: event.mode.as_deref(),
                reason: event.reason.as_deref(),
                key_hash: event.key_hash.as_deref(),
                event_id: Some(&event.event_id),
                detail: Some(&event.detail),
                ..Self::default()
            },
            Entry::Attempt(attempt, of) => Self {
                record: "attempt",
                number: attempt.number,
                at: local(attempt.at, zone),
                at_ms: attempt.at,
                region: of.map(region),
                task: attempt.task_id.map(task),
                action: &attempt.verb,
                code: Some(&attempt.code),
                actor_kind: &attempt.actor_kind,
                actor_id: attempt.actor_id.as_deref(),
                revision_seen: attempt.revision_seen,
                key_hash: attempt.key_hash.as_deref(),
                ..Self::default()
            },
        }
    }

    /// The cells, in the order of the headings.
    pub(super) fn cells(&self) -> [String; 21] {
        let text = |text: Option<&str>| text.map_or_else(String::new, csv_text);
        let number = |number: Option<i64>| number.map_or_else(String::new, csv_number);
        [
            csv_text(self.record),
            csv_number(self.number),
            csv_text(&self.at),
            csv_number(self.at_ms),
            text(self.region.as_deref()),
            text(self.task.as_deref()),
            text(self.kind),
            number(self.subject),
            csv_text(self.action),
            text(self.code),
            csv_text(self.actor_kind),
            text(self.actor_id),
            text(self.rider.as_deref()),
            number(self.from_revision),
            number(self.to_revision),
            number(self.revision_seen),
            text(self.mode),
            text(self.reason),
            text(self.key_hash),
            text(self.event_id),
            text(self.detail),
        ]
    }
}
