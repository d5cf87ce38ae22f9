//! The two sets of migrations make the same tables.

use std::{collections::BTreeSet, path::Path};

use super::raw::Raw;
use crate::harness::{desk::Home, *};

/// The migrations of one database.
fn folder(database: Database) -> std::path::PathBuf {
    let name = match database {
        Database::Sqlite => "sqlite",
        Database::Postgres => "postgres",
    };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(name)
}

/// The migrations of one database, read from their files.
pub(super) async fn migrator(database: Database) -> sqlx::migrate::Migrator {
    sqlx::migrate::Migrator::new(folder(database)).await.expect("migrations can be read")
}

#[test]
fn both_databases_have_migrations_of_the_same_names() {
    let names = |database| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder(database)).expect("a folder of migrations");
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let names = [names(Database::Sqlite), names(Database::Postgres)];
    assert_eq!(names[0], names[1]);
    for (number, name) in (1..).zip(&names[0]) {
        let form =
            name.starts_with(&format!("{number:04}_")) && Path::new(name).extension().is_some();
        assert!(form, "{name}: numbered without holes, number and words");
    }
    assert!(names[0].len() >= 3);
}

/// Every column with its table, its kind, and whether it may be empty.
async fn columns(raw: &Raw) -> Vec<String> {
    let mut found = match raw {
        Raw::Sqlite(_) => {
            raw.texts(
                "SELECT t.name || '.' || c.name || ' ' || \
                 CASE c.type WHEN 'INTEGER' THEN 'int' WHEN 'TEXT' THEN 'text' WHEN 'REAL' THEN 'real' ELSE '?' END \
                 || CASE WHEN c.\"notnull\" = 1 OR c.pk > 0 THEN ' not null' ELSE '' END \
                 FROM pragma_table_list t JOIN pragma_table_info(t.name) c WHERE t.schema = 'main'",
            )
            .await
        }
        Raw::Postgres(_) => {
            raw.texts(
                "SELECT table_name || '.' || column_name || ' ' || CASE data_type WHEN 'bigint' THEN 'int' \
                 WHEN 'text' THEN 'text' WHEN 'double precision' THEN 'real' ELSE '?' END \
                 || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END \
                 FROM information_schema.columns WHERE table_schema = current_schema()",
            )
            .await
        }
    };
    let tables = raw.tables().await;
    let is_ours = |row: &String| tables.iter().any(|table| row.starts_with(&format!("{table}.")));
    found.retain(is_ours);
    found.sort();
    found
}

/// What there can be only one of: table, columns, and the name where it was given one.
async fn unique(raw: &Raw) -> BTreeSet<String> {
    let rows = match raw {
        Raw::Sqlite(_) => {
            let listed = "SELECT t.name || ' (' || (SELECT group_concat(c.name, ',') FROM \
                 (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) c) || ')' || \
                 CASE WHEN i.partial = 1 THEN ' partly' ELSE '' END || \
                 CASE i.origin WHEN 'c' THEN ' ' || i.name ELSE '' END \
                 FROM pragma_table_list t JOIN pragma_index_list(t.name) i \
                 WHERE t.schema = 'main' AND i.\"unique\" = 1";
            // A single integer key is the table itself and has no index.
            let keys = "SELECT t.name || ' (' || group_concat(c.name, ',') || ')' FROM pragma_table_list t \
                 JOIN pragma_table_info(t.name) c WHERE t.schema = 'main' AND c.pk > 0 \
                 GROUP BY t.name HAVING COUNT(*) = 1";
            let mut rows = raw.texts(listed).await;
            rows.extend(raw.texts(keys).await);
            rows
        }
        Raw::Postgres(_) => {
            raw.texts(
                "SELECT CAST(t.relname AS text) || ' (' || (SELECT string_agg(a.attname, ',' ORDER BY k.place) \
                 FROM unnest(x.indkey) WITH ORDINALITY AS k(attnum, place) \
                 JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum) || ')' || \
                 CASE WHEN x.indpred IS NULL THEN '' ELSE ' partly' END || \
                 CASE WHEN EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.oid) THEN '' \
                 ELSE ' ' || i.relname END \
                 FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
                 WHERE x.indisunique AND t.relnamespace = (SELECT oid FROM pg_namespace \
                 WHERE nspname = current_schema())",
            )
            .await
        }
    };
    let tables = raw.tables().await;
    let is_ours = |row: &String| tables.iter().any(|table| row.starts_with(&format!("{table} (")));
    rows.into_iter().filter(is_ours).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_databases_have_the_same_tables_columns_and_unique_keys() {
    let mut found = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        let desk = Desk::open(database).await;
        let raw = Raw::of(&desk).await;
        found.push((raw.tables().await, columns(&raw).await, unique(&raw).await));
    }
    let (sqlite, postgres) = (&found[0], &found[1]);
    assert_eq!(sqlite.0, postgres.0, "tables");
    assert_eq!(sqlite.1, postgres.1, "columns");
    assert_eq!(sqlite.2, postgres.2, "unique keys");
    // That the questions find anything at all.
    assert!(sqlite.0.contains(&"dispatch_event".to_owned()), "{:?}", sqlite.0);
    assert!(sqlite.1.contains(&"task.rider_slot int".to_owned()), "{:?}", sqlite.1);
    assert!(sqlite.1.contains(&"task.revision int not null".to_owned()), "{:?}", sqlite.1);
    assert!(!sqlite.1.iter().any(|column| column.contains('?')), "64-bit integers, text, doubles");
    for key in [
        "task (rider_id,rider_slot) partly task_rider_slot",
        "offer (task_id) partly offer_waiting",
        "round (task_id) partly round_running",
        "dispatch_event (task_id,to_revision)",
        "task (source,request_key)",
        "task (id)",
        "task_detail (tracking_token) partly task_detail_tracking",
        "staff_password (login)",
    ] {
        assert!(sqlite.2.contains(key), "{key}: {:#?}", sqlite.2);
    }
}

/// Migrations that were made are not made again, and rows stay as they are.
async fn migrations_are_made_once(database: Database) {
    let desk = Desk::open(database).await;
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    let before = (raw.dump_all().await, raw.dump("_sqlx_migrations").await);
    for _ in 0..2 {
        let time = dispatch_desk::store::Time::Manual(std::sync::Arc::clone(&desk.clock));
        let again = dispatch_desk::store::Db::open(&desk.home.url, time).await.unwrap();
        assert!(again.read().await.unwrap().task(task).await.unwrap().is_some());
        again.close().await;
    }
    let after = (raw.dump_all().await, raw.dump("_sqlx_migrations").await);
    assert_eq!(after, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrations_are_made_once_on_sqlite() {
    migrations_are_made_once(Database::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrations_are_made_once_on_postgres() {
    migrations_are_made_once(Database::Postgres).await;
}

/// Two programs that start at once on a new database both find it ready.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_may_start_at_once_on_a_new_postgres() {
    let home = Home::new(Database::Postgres).await;
    let open = || dispatch_desk::store::Db::open(&home.url, dispatch_desk::store::Time::System);
    let (one, two, three) = tokio::join!(open(), open(), open());
    for db in [one, two, three] {
        assert_eq!(db.unwrap().read().await.unwrap().head().await.unwrap(), (0, 0));
    }
}
