//! A log that has grown: delivered tasks with their events, attempts, offers and stored answers.

/// Each task of the past: create, grab, arrive, pick-up, deliver.
const STEPS: i64 = 5;

/// Fills the database at `url` until its log holds `events` events. The rows are such as the executor writes.
pub async fn to(url: &str, events: i64) {
    let tasks = events / STEPS;
    if url.starts_with("sqlite:") {
        let pool = sqlx::SqlitePool::connect(url).await.expect("SQLite opens");
        for statement in statements(tasks, "printf('%032x', abs(random()))") {
            let statement = statement.replace(
                "SERIES",
                "(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < LAST) SELECT n FROM s)",
            );
            let statement = statement.replace("LAST", &(tasks * STEPS).to_string());
            sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&pool).await.expect("rows");
        }
        pool.close().await;
    } else {
        let pool = sqlx::PgPool::connect(url).await.expect("PostgreSQL answers");
        for statement in statements(tasks, "md5(random()::text)") {
            let statement =
                statement.replace("SERIES", "generate_series(1, CAST(LAST AS BIGINT)) AS s(n)");
            let statement = statement.replace("LAST", &(tasks * STEPS).to_string());
            sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&pool).await.expect("rows");
        }
        sqlx::query("ANALYZE").execute(&pool).await.expect("statistics");
        pool.close().await;
    }
}

/// `SERIES` yields n = 1 … events; a task is (n - 1) / 5 and its step (n - 1) % 5 + 1.
fn statements(tasks: i64, random: &str) -> Vec<String> {
    let body = r#"{"outcome":"done","task":{"id":1,"state":"assigned","stage":"waiting","mode":"grabbed","rider_id":1,"revision":2,"expiring":false,"release_at":"2026-11-30T04:00:00.000Z"},"event":{"number":1,"action":"grab","from_revision":1,"to_revision":2,"occurred_at":"2026-11-30T04:00:00.000Z"},"legal":["hand-back","arrive"],"server_time":"2026-11-30T04:00:00.000Z"}"#;
    let action = "CASE (n - 1) % 5 WHEN 0 THEN 'create' WHEN 1 THEN 'grab' WHEN 2 THEN 'arrive' \
                  WHEN 3 THEN 'pick-up' ELSE 'deliver' END";
    vec![
        format!(
            "INSERT INTO task (id, region_id, source, request_key, fingerprint, state, rider_id, stage, mode, revision, \
             release_at, priority, changed_at, changed_by_kind, changed_by_id) SELECT 10000 + n, 1, 'shop', {random}, \
             {random}, 'assigned', 10000 + n % 5000, 'delivered', 'grabbed', 5, 0, 0, 0, 'rider', '1' \
             FROM SERIES WHERE n <= {tasks}"
        ),
        format!(
            "INSERT INTO task_detail (task_id, detail_revision, pickup_lat, pickup_lng, pickup_address, dropoff_lat, \
             dropoff_lng, dropoff_address, note) SELECT 10000 + n, 1, 31.23, 121.47, '人民大道 100 号', 31.24, 121.5, \
             '世纪大道 1 号', '放前台' FROM SERIES WHERE n <= {tasks}"
        ),
        format!(
            "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, task_id, from_revision, to_revision, \
             action, actor_kind, actor_id, rider_id, mode, key_hash, occurred_at, detail_version, detail) \
             SELECT n, {random}, 'task', 10001 + (n - 1) / 5, 1, 10001 + (n - 1) / 5, (n - 1) % 5, (n - 1) % 5 + 1, \
             {action}, 'rider', '1', 10000 + n % 5000, 'grabbed', {random}, 0, 1, \
             '{{\"to\":\"assigned\",\"slot\":0,\"mode\":\"grabbed\"}}' FROM SERIES"
        ),
        format!(
            "INSERT INTO attempt (number, actor_kind, actor_id, key_hash, task_id, verb, code, revision_seen, at) \
             SELECT n, 'rider', '1', {random}, 10001 + (n - 1) / 5, {action}, 'done', (n - 1) % 5 + 1, 0 FROM SERIES"
        ),
        format!(
            "INSERT INTO command_outcome (principal, request_key, fingerprint, status, etag, body, created_at) \
             SELECT 'rider:1', {random}, {random}, 200, '\"2\"', '{body}', 0 FROM SERIES"
        ),
        "UPDATE event_counter SET number = LAST, attempt = LAST".to_owned(),
        format!("UPDATE task_counter SET number = 10000 + {tasks}"),
    ]
}
