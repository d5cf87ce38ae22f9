//! What is written once stays: the database itself refuses to change the log, the attempts and the policies.

use dispatch_desk::store::Error;

use super::raw::Raw;
use crate::harness::*;

for_each_database!(the_log_the_attempts_and_the_policies_can_not_be_changed, |desk| async move {
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    let update = [
        ("dispatch_event", "occurred_at = occurred_at + 1"),
        ("dispatch_event", "number = number"),
        ("attempt", "code = 'done'"),
        ("policy", "rules = '{}'"),
        ("policy", "starts_at = starts_at + 1"),
    ];
    for (table, set) in update {
        let refused = raw.run(&format!("UPDATE {table} SET {set}")).await;
        assert!(matches!(refused, Err(Error::Rejected(_))), "{table} {set}: {refused:?}");
    }
    for table in ["dispatch_event", "attempt", "policy"] {
        let refused = raw.run(&format!("DELETE FROM {table}")).await;
        assert!(matches!(refused, Err(Error::Rejected(_))), "{table}: {refused:?}");
        if raw.database() == Database::Postgres {
            let refused = raw.run(&format!("TRUNCATE {table} CASCADE")).await;
            assert!(matches!(refused, Err(Error::Rejected(_))), "{table}: {refused:?}");
        }
    }
    if raw.database() == Database::Postgres {
        // Nor through a table that they refer to.
        for table in ["task", "region"] {
            let refused = raw.run(&format!("TRUNCATE {table} CASCADE")).await;
            assert!(matches!(refused, Err(Error::Rejected(_))), "{table}: {refused:?}");
        }
    }
    assert_eq!(raw.dump_all().await, before, "and nothing has changed");
    desk.check().await;
});
