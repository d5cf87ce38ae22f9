//! What the lists cost where there is much to list: every statement finds its rows by an index, on both databases.

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sqlx::{AssertSqlSafe, PgPool};

    use super::super::{
        access::PRUNE_LINKS,
        accounts::{RIDER_ACCOUNT, RIDERS_OF},
        audit_sql::{
            ATTEMPT_STEP, ATTEMPT_STEP_BY, ATTEMPTS, ATTEMPTS_BY, ATTEMPTS_ON, EVENT_STEP,
            EVENT_STEP_ABOUT, EVENT_STEP_BY, EVENTS, EVENTS_ABOUT, EVENTS_BY, EVENTS_ON,
        },
        counts::{COUNT_ENDED, COUNT_EXPIRING, COUNT_FREE, COUNT_REFUSED, COUNT_STAGED},
        db::{Db, Product, Time},
        erase::{COUNT_ERASABLE, ERASABLE},
        lists::{
            CARD_OF_ORDER, CARD_TRACKED, CARDS_HELD, FREE, FREE_LATEST, POOL, STAGED, STAGED_LATEST,
        },
        readers::{EVENTS_OF_REGIONS, OFFER, OFFERS_OF, OFFERS_TO},
        sessions::{END_SESSIONS_OF, PRUNE_SESSIONS},
        signals::PRUNE_DEVICES,
        sql::Sql,
        tx::{Driver, Tx, on},
    };
    use crate::{clock::ManualClock, domain::id::Timestamp};

    /// A parameter.
    #[derive(Clone, Copy, Debug)]
    enum Bind {
        Int(i64),
        Text(&'static str),
        NoInt,
        NoText,
    }
    use Bind::{Int, NoInt, NoText, Text};

    /// Rows of each table. With 100,000 the plans are the same, but filling takes 15 s.
    const ROWS: i64 = 25_000;
    const BOTH: Bind = Text(r#"[{"id":1},{"id":2}]"#);
    /// The last tenth of the day.
    const LATE: Bind = Int(ROWS / 10 * 9);
    const HALF: Bind = Int(ROWS / 2);
    const PAGE: Bind = Int(50);
    /// How many rows an auditor's look passes by.
    const LOOK: Bind = Int(4_999);

    const NONE: Sql = Sql::same("");

    /// One look of an auditor's search, as wide as a look is.
    const fn audit(task: Bind, rider: Bind, kind: Bind, id: Bind) -> [Bind; 12] {
        let (from, to) = (Int(ROWS / 10 * 9), Int(ROWS / 10 * 8));
        [BOTH, Int(0), from, Int(0), to, Int(0), task, rider, kind, id, Text("cancel"), PAGE]
    }

    /// Each statement, what it is given, and the index that it must go by.
    const CASES: &[(&str, Sql, &[Bind], &str)] = &[
        ("open", FREE, &[BOTH, Text("open"), HALF, PAGE], "task_listed"),
        ("cancelled", FREE_LATEST, &[BOTH, Text("cancelled"), HALF, PAGE], "task_listed"),
        ("waiting", STAGED, &[BOTH, Text("assigned"), HALF, PAGE, Text("waiting")], "task_listed"),
        (
            "delivered",
            STAGED_LATEST,
            &[BOTH, Text("assigned"), HALF, PAGE, Text("delivered")],
            "task_listed",
        ),
        ("pool", POOL, &[Int(1), LATE, HALF, PAGE, Text("van")], "task_listed"),
        ("held", CARDS_HELD, &[Int(7)], "task_rider_slot"),
        ("tracked", CARD_TRACKED, &[Text("t77")], "task_detail_tracking"),
        ("of order", CARD_OF_ORDER, &[Text("shop"), Text("k77")], "task_"),
        ("count open", COUNT_FREE, &[BOTH, Text("open")], "task_listed"),
        ("count waiting", COUNT_STAGED, &[BOTH, Text("waiting")], "task_listed"),
        ("count expiring", COUNT_EXPIRING, &[BOTH, Int(9)], "task_"),
        ("count delivered", COUNT_ENDED, &[BOTH, Text("deliver"), LATE], "dispatch_event_counted"),
        ("count refused", COUNT_REFUSED, &[BOTH, LATE, Int(1_000)], "attempt_refused"),
        ("events", EVENTS_OF_REGIONS, &[BOTH, HALF, PAGE, Int(0)], "dispatch_event_region"),
        ("first events", EVENTS_OF_REGIONS, &[BOTH, Int(0), PAGE, Int(0)], "dispatch_event_region"),
        ("offer", OFFER, &[Text("o77")], "offer"),
        ("offers of", OFFERS_OF, &[Int(77)], "offer"),
        ("offers to", OFFERS_TO, &[Int(7), LATE, PAGE], "offer_of_rider"),
        ("rider", RIDER_ACCOUNT, &[Int(7)], "task_rider_slot"),
        ("riders", RIDERS_OF, &[BOTH, Int(0), PAGE], "task_rider_slot"),
        ("end sessions", END_SESSIONS_OF, &[Text("rider"), Text("7")], "web_session_owner"),
        ("prune sessions", PRUNE_SESSIONS, &[Int(100), PAGE], "web_session_seen"),
        ("erasable", ERASABLE, &[Int(1), HALF, LATE, PAGE], "task_over"),
        ("count erasable", COUNT_ERASABLE, &[Int(1), Int(100)], "task_over"),
        ("audit events", EVENTS, &audit(NoInt, NoInt, NoText, NoText), "dispatch_event_time"),
        (
            "audit about",
            EVENTS_ABOUT,
            &audit(NoInt, Int(7), NoText, NoText),
            "dispatch_event_rider",
        ),
        (
            "audit by",
            EVENTS_BY,
            &audit(NoInt, NoInt, Text("staff"), Text("7")),
            "dispatch_event_actor",
        ),
        ("audit on", EVENTS_ON, &audit(Int(77), NoInt, NoText, NoText), "dispatch_event"),
        ("audit attempts", ATTEMPTS, &audit(NoInt, NoInt, NoText, NoText), "attempt_time"),
        (
            "audit attempts by",
            ATTEMPTS_BY,
            &audit(NoInt, NoInt, Text("rider"), Text("7")),
            "attempt_actor",
        ),
        ("audit attempts on", ATTEMPTS_ON, &audit(Int(77), NoInt, NoText, NoText), "attempt_task"),
        ("audit step", EVENT_STEP, &[LATE, Int(0), Int(0), Int(0), LOOK], "dispatch_event_time"),
        (
            "audit step about",
            EVENT_STEP_ABOUT,
            &[LATE, Int(0), Int(0), Int(0), LOOK, Int(7)],
            "dispatch_event_rider",
        ),
        (
            "audit step by",
            EVENT_STEP_BY,
            &[LATE, Int(0), Int(0), Int(0), LOOK, Text("staff"), Text("7")],
            "dispatch_event_actor",
        ),
        ("audit attempt step", ATTEMPT_STEP, &[LATE, Int(0), Int(0), Int(0), LOOK], "attempt_time"),
        (
            "audit attempt step by",
            ATTEMPT_STEP_BY,
            &[LATE, Int(0), Int(0), Int(0), LOOK, Text("rider"), Text("7")],
            "attempt_actor",
        ),
        ("prune links", PRUNE_LINKS, &[Int(100), PAGE], "sign_in_link_over"),
        ("prune devices", PRUNE_DEVICES, &[Int(100), PAGE], "rider_device_seen"),
    ];

    /// A day of many tasks in four regions, all times in its own seconds.
    const DAY: &[&str] = &[
        "INSERT INTO region (id, name, time_zone, area) SELECT i, 'r', 'UTC', '{}' FROM n WHERE i <= 4",
        "INSERT INTO rider (id, region_id, name, capacity, duty) \
         SELECT i, 1 + i % 4, 'r', 9, 'on' FROM n WHERE i <= 1000",
        "INSERT INTO task (id, region_id, source, request_key, fingerprint, state, rider_id, rider_slot, stage, mode, \
         offer_until, revision, release_at, changed_at, changed_by_kind) \
         SELECT i, 1 + i % 4, 'shop', CONCAT('k', i), 'f', \
         CASE i % 100 WHEN 1 THEN 'open' WHEN 2 THEN 'offered' ELSE CASE WHEN i % 5 = 0 THEN 'cancelled' ELSE 'assigned' END END, \
         CASE WHEN i % 100 = 1 OR i % 5 = 0 THEN NULL ELSE 1 + i / 100 END, \
         CASE i % 100 WHEN 2 THEN 0 WHEN 3 THEN 1 END, \
         CASE WHEN i % 100 < 3 OR i % 5 = 0 THEN NULL WHEN i % 100 = 3 THEN 'waiting' ELSE 'delivered' END, \
         CASE WHEN i % 100 < 3 OR i % 5 = 0 THEN NULL ELSE 'grabbed' END, \
         CASE i % 100 WHEN 2 THEN i END, 1, 0, i, 'system' FROM n",
        "INSERT INTO task_detail (task_id, detail_revision, pickup_lat, pickup_lng, pickup_address, dropoff_lat, \
         dropoff_lng, dropoff_address, tracking_token) SELECT i, 1, 0, 0, 'a', 0, 0, 'a', CONCAT('t', i) FROM n",
        "INSERT INTO offer (task_id, revision, token, rider_id, offered_at, offer_until, answered_at, answer, \
         policy_version) SELECT i, 2, CONCAT('o', i), 1 + i % 1000, i, i + 30, i + 1, 'accepted', 1 FROM n",
        "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, task_id, from_revision, to_revision, \
         action, actor_kind, actor_id, rider_id, occurred_at, detail_version, detail) \
         SELECT i, 'e', 'task', i, 1 + i % 4, i, 1, 2, \
         CASE i % 10 WHEN 0 THEN 'deliver' WHEN 1 THEN 'cancel' WHEN 2 THEN 'decline' WHEN 3 THEN 'expire' \
         WHEN 4 THEN 'grab' WHEN 5 THEN 'offer' ELSE 'create' END, \
         CASE i % 2 WHEN 0 THEN 'staff' ELSE 'system' END, CONCAT('', i % 1000), 1 + i % 1000, i, 1, '{}' FROM n",
        "INSERT INTO attempt (number, actor_kind, actor_id, task_id, verb, code, at) \
         SELECT i, 'rider', CONCAT('', i % 1000), i, 'grab', \
         CASE i % 5 WHEN 0 THEN 'TAKEN_BY_OTHER' ELSE 'done' END, i FROM n",
        "INSERT INTO web_session (hash, actor_kind, actor_id, data, created_at, seen_at) \
         SELECT CONCAT('s', i), 'rider', CONCAT('', i % 1000), '{}', i, i FROM n",
        "INSERT INTO sign_in_link (hash, actor_kind, actor_id, created_at, expires_at, uses_left) \
         SELECT CONCAT('l', i), 'rider', '1', i, i, 1 FROM n",
        "INSERT INTO rider_device (device, rider_id, seen_at) SELECT i, 1 + i % 1000, i FROM n",
    ];

    async fn fill(db: &Db) {
        let mut tx = db.begin().await.unwrap();
        let postgres = db.product() == Product::Postgres;
        if postgres {
            run(&mut tx, "SET LOCAL statement_timeout = 0").await;
        }
        for insert in DAY {
            let (head, tail) = insert.split_once("SELECT").expect("rows from a query");
            let text = format!(
                "{head} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) SELECT{tail}"
            );
            run(&mut tx, &text).await;
        }
        // PostgreSQL does it by itself, SQLite never.
        if postgres {
            run(&mut tx, "ANALYZE").await;
        }
        tx.commit().await.unwrap();
    }

    async fn run(tx: &mut Tx, text: &str) {
        on!(tx, NONE, |conn, _none| {
            let done = sqlx::raw_sql(AssertSqlSafe(text.to_owned())).execute(conn).await;
            done.map(drop)
        })
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    /// How a database would go about a statement, a line a step.
    async fn plan(tx: &mut Tx, sql: Sql, binds: &[Bind]) -> String {
        macro_rules! explained {
            ($row:ty, $how:literal) => {
                on!(tx, sql, |conn, text| {
                    let text = AssertSqlSafe(format!(concat!($how, " {}"), text));
                    let mut query = sqlx::query_as::<_, $row>(text);
                    for bind in binds {
                        query = match *bind {
                            Int(number) => query.bind(number),
                            Text(text) => query.bind(text),
                            NoInt => query.bind(None::<i64>),
                            NoText => query.bind(None::<&str>),
                        };
                    }
                    query.fetch_all(conn).await.expect("a plan")
                })
            };
        }
        let sqlite = matches!(tx.driver, Driver::Sqlite(_));
        let steps: Vec<String> = if sqlite {
            let steps = explained!((i64, i64, i64, String), "EXPLAIN QUERY PLAN");
            steps.into_iter().map(|(.., step)| step).collect()
        } else {
            explained!((String,), "EXPLAIN").into_iter().map(|(step,)| step).collect()
        };
        steps.join("\n")
    }

    /// The large tables that a plan reads from end to end.
    fn walked(plan: &str) -> Vec<&str> {
        let after = |mark| plan.lines().filter_map(move |line| line.split_once(mark));
        let tables = after("Seq Scan on ").chain(after("SCAN "));
        let tables = tables.filter_map(|(_, rest)| rest.split_whitespace().next());
        // SQLite names the alias.
        let small = ["jsonb_each", "k", "counted", "rider", "rider_location", "round"];
        tables.filter(|table| !small.contains(table)).collect()
    }

    async fn every_list_has_its_index(url: &str) {
        let db =
            Db::open(url, Time::Manual(Arc::new(ManualClock::at(Timestamp(0))))).await.unwrap();
        fill(&db).await;
        let mut tx = db.read().await.unwrap();
        for (name, sql, binds, index) in CASES {
            let plan = plan(&mut tx, *sql, binds).await;
            assert!(plan.contains(index), "{name} does not use {index}:\n{plan}");
            let walked = walked(&plan);
            // Where there are many refusals PostgreSQL may read their tasks as a whole.
            let fine = walked.iter().all(|table| *table == "task" && *name == "count refused");
            assert!(fine, "{name} walks through {walked:?}:\n{plan}");
        }
        drop(tx);
        db.close().await;
    }

    #[test]
    fn a_walk_through_a_table_would_be_found() {
        assert_eq!(walked("SCAN k\nSEARCH t USING INDEX x\nSCAN t USING INDEX y"), ["t"]);
        assert_eq!(walked("Limit\n  ->  Seq Scan on task p  (cost=0)\n ->  Index Scan"), ["task"]);
    }

    #[tokio::test]
    async fn every_list_has_its_index_on_sqlite() {
        let folder = tempfile::tempdir().unwrap();
        every_list_has_its_index(&format!("sqlite://{}/desk.db", folder.path().display())).await;
    }

    #[tokio::test]
    async fn every_list_has_its_index_on_postgres() {
        let url = std::env::var("TEST_POSTGRES_URL").expect("scripts/test sets TEST_POSTGRES_URL");
        let pool = PgPool::connect(&url).await.unwrap();
        let schema = format!("plans_{}", std::process::id());
        sqlx::query(AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&pool).await.unwrap();
        let joint = if url.contains('?') { '&' } else { '?' };
        every_list_has_its_index(&format!("{url}{joint}options=-c%20search_path%3D{schema}")).await;
    }
}
