//! Data written under an older set of tables survives every migration that follows.
//!
//! A table that a later migration adds needs a sample row here; the case says so if it has none.

use std::collections::BTreeMap;

use super::{parity::migrator, raw::Raw};
use crate::harness::{desk::Home, *};

/// A row for every table, in the order in which they refer to each other. Only columns that the table's first
/// migration has: that is what old data is.
const SAMPLES: &[(&str, &str)] = &[
    ("region", "(id, name, time_zone, area) VALUES (1, '北区', 'Asia/Shanghai', '{}')"),
    ("policy", "(region_id, version, starts_at, rules) VALUES (1, 1, 0, '{}')"),
    ("rider", "(id, region_id, name, capacity, duty) VALUES (1, 1, '骑手', 2, 'on')"),
    ("rider_location", "(rider_id, seq, at, lat, lng) VALUES (1, 1, 1, 31.25, 121.5)"),
    ("rider_device", "(device, rider_id, seen_at) VALUES (7, 1, 1)"),
    (
        "rider_signal",
        "(rider_id, kind, first_at, last_at, times, evidence) VALUES (1, 'speed', 1, 2, 3, '{}')",
    ),
    ("staff", "(id, name, role) VALUES (1, '调度', 'dispatcher')"),
    ("staff_region", "(staff_id, region_id) VALUES (1, 1)"),
    (
        "task",
        "(id, region_id, source, request_key, fingerprint, state, rider_id, rider_slot, offer_until, revision, \
         release_at, changed_at, changed_by_kind, changed_by_id) \
         VALUES (1, 1, 'shop', 'k', 'f', 'offered', 1, 0, 99, 2, 0, 1, 'staff', '1')",
    ),
    (
        "task_detail",
        "(task_id, detail_revision, pickup_lat, pickup_lng, pickup_address, dropoff_lat, dropoff_lng, \
         dropoff_address) VALUES (1, 1, 31.25, 121.5, '人民大道', 31.5, 121.25, '世纪大道')",
    ),
    (
        "offer",
        "(task_id, revision, token, rider_id, offered_at, offer_until, policy_version) \
         VALUES (1, 2, 't', 1, 1, 99, 1)",
    ),
    (
        "round",
        "(id, task_id, status, started_at, until, policy_version) VALUES (1, 1, 'placed', 1, 2, 1)",
    ),
    (
        "round_candidate",
        "(round_id, rider_id, rank, factors, nonce, sent_at) VALUES (1, 1, 1, '{}', 'n', 1)",
    ),
    ("event_counter", ""),
    ("task_counter", ""),
    (
        "dispatch_event",
        "(number, event_id, kind, subject, region_id, task_id, from_revision, to_revision, action, actor_kind, \
         occurred_at, detail_version, detail) \
         VALUES (1, 'e', 'task', 1, 1, 1, 0, 1, 'create', 'system', 1, 1, '{}')",
    ),
    ("attempt", "(number, actor_kind, verb, code, at) VALUES (1, 'rider', 'grab', 'done', 1)"),
    (
        "command_outcome",
        "(principal, request_key, fingerprint, status, body, created_at) VALUES ('p', 'k', 'f', 200, '{}', 1)",
    ),
    (
        "api_token",
        "(id, secret_hash, label, actor_kind, actor_id, created_at) VALUES ('a', 'h', '收银', 'intake', 'shop', 1)",
    ),
    ("staff_password", "(staff_id, login, phc) VALUES (1, '王', '$argon2id$')"),
    (
        "sign_in_link",
        "(hash, actor_kind, actor_id, created_at, expires_at, uses_left) VALUES ('h', 'rider', '1', 1, 2, 1)",
    ),
    (
        "web_session",
        "(hash, actor_kind, actor_id, data, created_at, seen_at) VALUES ('h', 'staff', '1', '{}', 1, 2)",
    ),
    ("staff_factor", "(staff_id, secret, made_at) VALUES (1, 's', 1)"),
    ("recovery_code", "(staff_id, hash) VALUES (1, 'h')"),
    ("rider_password", "(rider_id, phone, phc, set_at) VALUES (1, '13800000001', '$argon2id$', 1)"),
    ("sign_in_attempt", "(bucket, failures, since, last_at) VALUES ('b', 1, 1, 2)"),
    ("desk_rule", ""),
    (
        "audit_seal",
        "(number, first_event, last_event, first_attempt, last_attempt, digest, prev, marks, key_id, mac, at) \
         VALUES (1, 1, 1, 1, 0, 'd', 'p', 'm', 'k', 'x', 1)",
    ),
    ("round_counter", ""),
    ("search", "(task_id, due_at, search) VALUES (1, 5, 1)"),
    (
        "manual_pool",
        "(task_id, region_id, cell, since, reason) VALUES (1, 1, 7, 5, 'nobody_found')",
    ),
    ("decline_reset", "(task_id, at) VALUES (1, 5)"),
    (
        "grab_intent",
        "(round_id, principal, request_key, fingerprint, rider_id, command, at, due_at) \
         VALUES (1, 'p', 'k', 'f', 1, '{}', 1, 2)",
    ),
    ("log_cursor", ""),
];

/// The columns of a table at this moment.
async fn columns(raw: &Raw, table: &str) -> Vec<String> {
    match raw {
        Raw::Sqlite(_) => {
            raw.texts(&format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid")).await
        }
        Raw::Postgres(_) => {
            raw.texts(&format!(
                "SELECT CAST(column_name AS text) FROM information_schema.columns \
                 WHERE table_schema = current_schema() AND table_name = '{table}' ORDER BY ordinal_position"
            ))
            .await
        }
    }
}

/// The rows of a table, as far as these columns go.
async fn rows(raw: &Raw, table: &str, columns: &[String]) -> Vec<String> {
    let texts: Vec<_> =
        columns.iter().map(|name| format!("COALESCE(CAST({name} AS TEXT), '-')")).collect();
    let row = texts.join(" || '|' || ");
    raw.texts(&format!("SELECT {row} FROM {table} ORDER BY 1")).await
}

async fn data_survives(database: Database) {
    let home = Home::new(database).await;
    let url = match database {
        Database::Sqlite => format!("{}?mode=rwc", home.url),
        Database::Postgres => home.url.clone(),
    };
    let raw = Raw::open(database, &url).await;
    let mut kept: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    let mut made = 0;
    for migration in migrator(database).await.iter() {
        raw.run(migration.sql.as_str()).await.unwrap_or_else(|error| {
            panic!("{}: {error}", migration.description);
        });
        made += 1;
        for (table, (columns, before)) in &kept {
            let after = rows(&raw, table, columns).await;
            assert_eq!(&after, before, "{table} after {}", migration.description);
        }
        let mut new = raw.tables().await;
        new.retain(|table| !kept.contains_key(table));
        for (table, sample) in SAMPLES {
            if !new.iter().any(|new| new == table) {
                continue;
            }
            if !sample.is_empty() {
                raw.run(&format!("INSERT INTO {table} {sample}")).await.unwrap();
            }
            let columns = columns(&raw, table).await;
            let written = rows(&raw, table, &columns).await;
            assert_eq!(written.len(), 1, "{table}: {written:?}");
            kept.insert((*table).to_owned(), (columns, written));
        }
        new.retain(|table| !kept.contains_key(table));
        assert!(new.is_empty(), "give these tables a sample row: {new:?}");
    }
    assert!(made >= 3 && kept.len() == SAMPLES.len(), "{made} migrations, {} tables", kept.len());
}

#[tokio::test]
async fn data_survives_all_later_migrations_on_sqlite() {
    data_survives(Database::Sqlite).await;
}

#[tokio::test]
async fn data_survives_all_later_migrations_on_postgres() {
    data_survives(Database::Postgres).await;
}
