//! The statements of the auditor's search: one for each way of walking.

use super::sql::{Sql, setwise};

/// What must hold of an event beside the way of the walk. `$1` regions, `$2` whether those of no region count; from `$3`
/// and `$4` down to `$5` and `$6`; `$7` task, `$8` rider, `$9` and `$10` who acted, `$11` what was done; `$12` how many.
/// The sign before the region keeps SQLite from walking along its index. What was done to a task beside its own steps
/// (a number shown, data erased) is no event of the task, and names it as its subject.
macro_rules! events {
    ($head:literal, $way:literal, $tail:literal) => {
        setwise!(
            @text concat!(
                $head,
                " FROM dispatch_event e WHERE (e.occurred_at, e.number) < ($3, $4) \
                 AND (e.occurred_at, e.number) >= ($5, $6) AND ", $way,
                " AND ($7 IS NULL OR e.task_id = $7 OR (e.kind = 'admin' AND e.subject = $7 \
                 AND e.detail LIKE '%\"of\":\"task\"%')) AND ($8 IS NULL OR e.rider_id = $8) AND ($9 IS NULL OR e.actor_kind = $9) AND ($10 IS NULL OR e.actor_id = $10) \
                 AND ($11 IS NULL OR e.action = $11) \
                 AND ((+e.region_id IS NULL AND $2 = 1) OR +e.region_id IN (SELECT r.id FROM "
            ),
            rows(id int),
            concat!("))", $tail)
        )
    };
}

/// The same of attempts, whose rider is the one who tried.
macro_rules! attempts {
    ($head:literal, $way:literal, $tail:literal) => {
        setwise!(
            @text concat!(
                $head,
                " FROM attempt e LEFT JOIN task t ON t.id = e.task_id WHERE (e.at, e.number) < ($3, $4) \
                 AND (e.at, e.number) >= ($5, $6) AND ", $way,
                " AND ($7 IS NULL OR e.task_id = $7) \
                 AND ($8 IS NULL OR (e.actor_kind = 'rider' AND e.actor_id = CAST($8 AS TEXT))) \
                 AND ($9 IS NULL OR e.actor_kind = $9) AND ($10 IS NULL OR e.actor_id = $10) \
                 AND ($11 IS NULL OR e.verb = $11 OR e.code = $11) \
                 AND ((t.region_id IS NULL AND $2 = 1) OR t.region_id IN (SELECT r.id FROM "
            ),
            rows(id int),
            concat!("))", $tail)
        )
    };
}

macro_rules! found_events {
    ($way:literal) => {
        events!(
            "SELECT e.number, e.event_id, e.kind, e.subject, e.region_id, e.task_id, e.from_revision, e.to_revision, \
             e.action, e.actor_kind, e.actor_id, e.rider_id, e.mode, e.reason, e.key_hash, e.occurred_at, \
             e.detail_version, e.detail",
            $way,
            " ORDER BY e.occurred_at DESC, e.number DESC LIMIT $12"
        )
    };
}

macro_rules! found_attempts {
    ($way:literal) => {
        attempts!(
            "SELECT e.number, e.actor_kind, e.actor_id, e.key_hash, e.task_id, e.verb, e.code, e.revision_seen, e.at, \
             t.region_id",
            $way,
            " ORDER BY e.at DESC, e.number DESC LIMIT $12"
        )
    };
}

/// Where a look ends that goes from `$1` and `$2` down to `$3` and `$4` and passes `$5` rows by: the row after those.
macro_rules! step {
    ($table:literal, $at:literal, $way:literal) => {
        Sql::same(concat!(
            "SELECT e.",
            $at,
            ", e.number FROM ",
            $table,
            " e WHERE (e.",
            $at,
            ", e.number) < ($1, $2) AND (e.",
            $at,
            ", e.number) >= ($3, $4) AND ",
            $way,
            " ORDER BY e.",
            $at,
            " DESC, e.number DESC LIMIT 1 OFFSET $5"
        ))
    };
}

pub(super) const EVENTS: Sql = found_events!("1 = 1");
pub(super) const EVENTS_ABOUT: Sql = found_events!("e.rider_id = $8");
pub(super) const EVENTS_BY: Sql =
    found_events!("e.actor_kind = $9 AND e.actor_id = $10 AND e.actor_kind <> 'system'");
pub(super) const EVENTS_ON: Sql = found_events!(
    "e.number IN (SELECT o.number FROM dispatch_event o WHERE o.task_id = $7 UNION ALL \
     SELECT o.number FROM dispatch_event o WHERE o.subject = $7 AND o.kind IN ('admin', 'rider', 'policy'))"
);
pub(super) const EVENT_STEP: Sql = step!("dispatch_event", "occurred_at", "1 = 1");
pub(super) const EVENT_STEP_ABOUT: Sql = step!("dispatch_event", "occurred_at", "e.rider_id = $6");
pub(super) const EVENT_STEP_BY: Sql = step!(
    "dispatch_event",
    "occurred_at",
    "e.actor_kind = $6 AND e.actor_id = $7 AND e.actor_kind <> 'system'"
);
pub(super) const ATTEMPTS: Sql = found_attempts!("1 = 1");
pub(super) const ATTEMPTS_BY: Sql =
    found_attempts!("e.actor_kind = $9 AND e.actor_id = $10 AND e.actor_kind <> 'system'");
pub(super) const ATTEMPTS_ON: Sql = found_attempts!("e.task_id = $7");
pub(super) const ATTEMPT_STEP: Sql = step!("attempt", "at", "1 = 1");
pub(super) const ATTEMPT_STEP_BY: Sql =
    step!("attempt", "at", "e.actor_kind = $6 AND e.actor_id = $7 AND e.actor_kind <> 'system'");
