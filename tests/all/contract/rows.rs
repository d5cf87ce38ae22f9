//! Good rows of every table, and how to spoil them.

/// An INSERT into `table` of `row`, with some of its columns replaced or added.
pub fn insert(table: &str, row: &[(&str, &str)], instead: &[(&str, &str)]) -> String {
    let mut columns: Vec<(&str, &str)> = row.to_vec();
    for (name, value) in instead {
        match columns.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => columns.push((name, value)),
        }
    }
    let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "))
}

/// An open task.
pub const TASK: &[(&str, &str)] = &[
    ("id", "1"),
    ("region_id", "1"),
    ("source", "'shop'"),
    ("request_key", "'k1'"),
    ("fingerprint", "'f'"),
    ("state", "'open'"),
    ("revision", "1"),
    ("release_at", "0"),
    ("changed_at", "0"),
    ("changed_by_kind", "'intake'"),
    ("changed_by_id", "'shop'"),
];
/// What makes an offered task of it, and assigned ones.
pub const OFFERED: &[(&str, &str)] =
    &[("state", "'offered'"), ("rider_id", "1"), ("rider_slot", "0"), ("offer_until", "9")];
pub const ASSIGNED: &[(&str, &str)] = &[
    ("state", "'assigned'"),
    ("rider_id", "1"),
    ("rider_slot", "0"),
    ("stage", "'waiting'"),
    ("mode", "'grabbed'"),
];
pub const OFFER: &[(&str, &str)] = &[
    ("task_id", "1"),
    ("revision", "2"),
    ("token", "'t1'"),
    ("rider_id", "1"),
    ("offered_at", "1"),
    ("offer_until", "2"),
    ("policy_version", "1"),
];
pub const ROUND: &[(&str, &str)] = &[
    ("id", "1"),
    ("task_id", "1"),
    ("region_id", "1"),
    ("step", "1"),
    ("search", "1"),
    ("kind", "'broadcast'"),
    ("rung", "0"),
    ("status", "'running'"),
    ("started_at", "1"),
    ("until", "2"),
    ("policy_version", "1"),
];
pub const EVENT: &[(&str, &str)] = &[
    ("number", "1"),
    ("event_id", "'e'"),
    ("kind", "'task'"),
    ("subject", "1"),
    ("task_id", "1"),
    ("from_revision", "1"),
    ("to_revision", "2"),
    ("action", "'grab'"),
    ("actor_kind", "'rider'"),
    ("occurred_at", "0"),
    ("detail_version", "1"),
    ("detail", "'{}'"),
];
pub const RIDER: &[(&str, &str)] =
    &[("id", "500"), ("region_id", "1"), ("name", "'x'"), ("capacity", "1"), ("duty", "'on'")];
pub const STAFF: &[(&str, &str)] = &[("id", "500"), ("name", "'x'"), ("role", "'auditor'")];
pub const CANDIDATE: &[(&str, &str)] = &[
    ("round_id", "1"),
    ("rider_id", "1"),
    ("nonce", "'n'"),
    ("rank", "1"),
    ("sent_at", "1"),
    ("until", "2"),
];
pub const OUTCOME: &[(&str, &str)] = &[
    ("principal", "'p'"),
    ("request_key", "'k'"),
    ("fingerprint", "'f'"),
    ("status", "200"),
    ("body", "'{}'"),
    ("created_at", "0"),
];
pub const ATTEMPT: &[(&str, &str)] = &[
    ("number", "1"),
    ("actor_kind", "'rider'"),
    ("verb", "'grab'"),
    ("code", "'done'"),
    ("at", "0"),
];
pub const DETAIL: &[(&str, &str)] = &[
    ("task_id", "1"),
    ("detail_revision", "1"),
    ("pickup_lat", "0"),
    ("pickup_lng", "0"),
    ("pickup_address", "'a'"),
    ("dropoff_lat", "0"),
    ("dropoff_lng", "0"),
    ("dropoff_address", "'b'"),
    ("tracking_token", "'t'"),
];
pub const TOKEN: &[(&str, &str)] = &[
    ("id", "'a1'"),
    ("secret_hash", "'h'"),
    ("label", "''"),
    ("actor_kind", "'intake'"),
    ("actor_id", "'shop'"),
    ("created_at", "0"),
];
pub const PASSWORD: &[(&str, &str)] =
    &[("staff_id", "1"), ("login", "'wang'"), ("phc", "'$argon2id$'")];
pub const LINK: &[(&str, &str)] = &[
    ("hash", "'h'"),
    ("actor_kind", "'rider'"),
    ("actor_id", "'1'"),
    ("created_at", "0"),
    ("expires_at", "1"),
    ("uses_left", "1"),
];
pub const SESSION: &[(&str, &str)] = &[
    ("hash", "'h'"),
    ("actor_kind", "''"),
    ("actor_id", "''"),
    ("data", "'{}'"),
    ("created_at", "0"),
    ("seen_at", "0"),
];
