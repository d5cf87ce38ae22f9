//! Values outside of their list, their range or their type, which the database itself refuses.

use dispatch_desk::store::Error;

use super::{
    raw::Raw,
    rows::{
        ATTEMPT, CANDIDATE, EVENT, LINK, OFFER, OUTCOME, PASSWORD, RIDER, ROUND, SESSION, STAFF,
        TASK, TOKEN, insert,
    },
};
use crate::harness::*;

/// Rows that must be refused beside a good one, and how the store names it.
struct Bad {
    table: &'static str,
    good: &'static [(&'static str, &'static str)],
    instead: &'static [&'static [(&'static str, &'static str)]],
}

/// Columns of a closed list, or of a range, with a value outside of it; and NULL where there must be a value.
const REJECTED: &[Bad] = &[
    Bad {
        table: "task",
        good: TASK,
        instead: &[
            &[("vehicle", "'rocket'")],
            &[("changed_by_kind", "'ghost'")],
            &[("changed_by_kind", "NULL")],
            &[("revision", "0")],
            &[("revision", "-1")],
            &[("revision", "NULL")],
            &[("region_id", "99")],
            &[("source", "NULL")],
            &[("request_key", "NULL")],
        ],
    },
    Bad {
        table: "offer",
        good: OFFER,
        instead: &[
            &[("answer", "'maybe'"), ("answered_at", "1")],
            &[("answer", "'accepted'")],
            &[("answered_at", "1")],
            &[("offer_until", "1")],
            &[("revision", "0")],
            &[("rider_id", "9999")],
            &[("task_id", "9999")],
            &[("token", "NULL")],
        ],
    },
    Bad {
        table: "round",
        good: ROUND,
        instead: &[
            &[("status", "'paused'")],
            &[("status", "NULL")],
            &[("status", "'placed'")],
            &[("ended_at", "2")],
            &[("until", "1")],
            &[("step", "0")],
            &[("search", "0")],
            &[("kind", "'lottery'")],
            &[("rung", "-1")],
            &[("radius_m", "0")],
        ],
    },
    Bad {
        table: "round_candidate",
        good: CANDIDATE,
        instead: &[
            &[("nonce", "NULL")],
            &[("excluded_reason", "'off_duty'")],
            &[("rank", "NULL")],
            &[("rank", "0")],
            &[("until", "NULL")],
            &[("answer", "'maybe'"), ("answered_at", "1")],
            &[("answer", "'declined'")],
            &[("answered_at", "1")],
            &[("distance_m", "-1")],
        ],
    },
    Bad {
        table: "dispatch_event",
        good: EVENT,
        instead: &[
            &[("to_revision", "1")],
            &[("to_revision", "3")],
            &[("from_revision", "NULL")],
            &[("to_revision", "NULL")],
            &[("task_id", "NULL")],
            &[("task_id", "9999")],
            &[("kind", "'detail'")],
            &[("kind", "'gossip'")],
            &[("kind", "NULL")],
            &[("actor_kind", "'ghost'")],
            &[("number", "0")],
            &[("number", "-1")],
        ],
    },
    Bad {
        table: "attempt",
        good: ATTEMPT,
        instead: &[&[("actor_kind", "'ghost'")], &[("number", "0")], &[("code", "NULL")]],
    },
    Bad {
        table: "rider",
        good: RIDER,
        instead: &[
            &[("capacity", "-1")],
            &[("capacity", "1001")],
            &[("duty", "'asleep'")],
            &[("disabled", "2")],
            &[("vehicle", "'rocket'")],
            &[("risk_rejected", "-1")],
            &[("region_id", "99")],
            &[("revision", "0")],
        ],
    },
    Bad {
        table: "staff",
        good: STAFF,
        instead: &[&[("role", "'rider'")], &[("role", "NULL")], &[("disabled", "2")]],
    },
    Bad { table: "command_outcome", good: OUTCOME, instead: &[&[("body", "NULL")]] },
    Bad {
        table: "event_counter",
        good: &[],
        instead: &[&[("id", "2"), ("number", "0"), ("attempt", "0")]],
    },
    Bad { table: "task_counter", good: &[], instead: &[&[("id", "2"), ("number", "0")]] },
    Bad {
        table: "policy",
        good: &[("region_id", "1"), ("version", "9"), ("starts_at", "0"), ("rules", "'{}'")],
        instead: &[&[("version", "0")], &[("region_id", "99")], &[("rules", "NULL")]],
    },
    Bad {
        table: "api_token",
        good: TOKEN,
        instead: &[
            &[("actor_kind", "'system'")],
            &[("actor_kind", "'customer'")],
            &[("actor_kind", "''")],
            &[("actor_kind", "NULL")],
            &[("actor_id", "NULL")],
            &[("secret_hash", "NULL")],
            &[("label", "NULL")],
        ],
    },
    Bad {
        table: "staff_password",
        good: PASSWORD,
        instead: &[&[("staff_id", "99")], &[("login", "NULL")], &[("phc", "NULL")]],
    },
    Bad {
        table: "sign_in_link",
        good: LINK,
        instead: &[
            &[("actor_kind", "'system'")],
            &[("actor_kind", "'intake'")],
            &[("actor_kind", "NULL")],
            &[("uses_left", "-1")],
            &[("uses_left", "NULL")],
            &[("expires_at", "NULL")],
        ],
    },
    Bad {
        table: "web_session",
        good: SESSION,
        instead: &[
            &[("actor_kind", "'system'")],
            &[("actor_kind", "'ghost'")],
            &[("actor_kind", "NULL")],
            &[("actor_id", "NULL")],
            &[("data", "NULL")],
        ],
    },
];

for_each_database!(a_value_outside_of_its_list_or_range_is_refused, |desk| async move {
    let raw = Raw::of(&desk).await;
    raw.run(&insert("task", TASK, &[("id", "2"), ("request_key", "'k2'")])).await.unwrap();
    for Bad { table, good, instead } in REJECTED {
        for instead in *instead {
            let came = raw.run(&insert(table, good, instead)).await;
            assert!(matches!(came, Err(Error::Rejected(_))), "{table} {instead:?}: {came:?}");
        }
        // The row itself is fine: it was that one value that was refused.
        if !good.is_empty() {
            raw.run(&insert(table, good, &[])).await.unwrap_or_else(|error| {
                panic!("{table}: the good row is refused: {error}");
            });
        }
    }
});

// A column keeps its type: SQLite would otherwise take anything.
for_each_database!(a_value_of_another_type_is_refused, |desk| async move {
    let raw = Raw::of(&desk).await;
    for (table, good, column) in [
        ("task", TASK, "revision"),
        ("task", TASK, "release_at"),
        ("offer", OFFER, "offer_until"),
        ("dispatch_event", EVENT, "number"),
        ("attempt", ATTEMPT, "at"),
        ("command_outcome", OUTCOME, "status"),
        ("rider", RIDER, "capacity"),
        ("api_token", TOKEN, "created_at"),
        ("staff_password", PASSWORD, "staff_id"),
        ("sign_in_link", LINK, "expires_at"),
        ("web_session", SESSION, "seen_at"),
    ] {
        for value in ["'soon'", "'1x'", "''"] {
            let came = raw.run(&insert(table, good, &[(column, value)])).await;
            assert!(matches!(came, Err(Error::Rejected(_))), "{table}.{column} {value}: {came:?}");
        }
    }
    if raw.database() == Database::Sqlite {
        let strict = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0";
        let lax: Vec<_> = raw.texts(strict).await;
        let ours: Vec<_> = lax
            .into_iter()
            .filter(|name| !name.starts_with("sqlite_") && name != "_sqlx_migrations")
            .collect();
        assert_eq!(ours, Vec::<String>::new(), "every table is STRICT");
    }
});
