-- The numbered log, the attempts, and the stored answers.

-- Number of the last event and of the last attempt. Taken once per transaction, last before the events
-- are inserted, so that the order of numbers is the order of commits and no number is left out.
CREATE TABLE event_counter (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL,
    attempt BIGINT NOT NULL
);
INSERT INTO event_counter (id, number, attempt) VALUES (1, 0, 0);

-- Number of the last task.
CREATE TABLE task_counter (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL
);
INSERT INTO task_counter (id, number) VALUES (1, 10000);

CREATE TABLE dispatch_event (
    number BIGINT PRIMARY KEY CHECK (number > 0),
    -- Unguessable and never used twice, not even after a restored backup.
    event_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('task', 'detail', 'rider', 'round', 'policy', 'admin')),
    -- What it is about, within its kind: a number.
    subject BIGINT NOT NULL,
    region_id BIGINT,
    task_id BIGINT REFERENCES task (id),
    from_revision BIGINT,
    to_revision BIGINT,
    action TEXT NOT NULL,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('system', 'intake', 'customer', 'rider', 'staff')),
    actor_id TEXT,
    rider_id BIGINT,
    mode TEXT,
    reason TEXT,
    key_hash TEXT,
    occurred_at BIGINT NOT NULL,
    detail_version BIGINT NOT NULL,
    detail TEXT NOT NULL,
    UNIQUE (task_id, to_revision),
    CONSTRAINT event_is_a_step CHECK (
        (kind = 'task'
            AND task_id IS NOT NULL AND from_revision IS NOT NULL AND to_revision IS NOT NULL
            AND to_revision = from_revision + 1)
        OR (kind <> 'task' AND from_revision IS NULL AND to_revision IS NULL)
    )
);

-- Hand-backs are counted per rider and day.
CREATE INDEX dispatch_event_hand_back ON dispatch_event (rider_id, occurred_at) WHERE action = 'hand-back';

-- Every attempt, the losers' too.
CREATE TABLE attempt (
    number BIGINT PRIMARY KEY CHECK (number > 0),
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('system', 'intake', 'customer', 'rider', 'staff')),
    actor_id TEXT,
    key_hash TEXT,
    task_id BIGINT,
    verb TEXT NOT NULL,
    -- done, or the code of the answer.
    code TEXT NOT NULL,
    revision_seen BIGINT,
    at BIGINT NOT NULL
);

CREATE INDEX attempt_task ON attempt (task_id, number);

-- The answer given under a request key, byte for byte. Kept for seven days.
CREATE TABLE command_outcome (
    principal TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status BIGINT NOT NULL,
    location TEXT,
    etag TEXT,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (principal, request_key)
);

-- Rows stand in the order of time, so a small index over blocks finds the old ones.
CREATE INDEX command_outcome_created_at ON command_outcome USING brin (created_at);

CREATE FUNCTION dispatch_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the log is append-only'; END $$;
CREATE TRIGGER dispatch_event_no_change BEFORE UPDATE OR DELETE ON dispatch_event
    FOR EACH ROW EXECUTE FUNCTION dispatch_event_is_append_only();
CREATE TRIGGER dispatch_event_no_truncate BEFORE TRUNCATE ON dispatch_event
    FOR EACH STATEMENT EXECUTE FUNCTION dispatch_event_is_append_only();

CREATE FUNCTION attempt_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'attempts are append-only'; END $$;
CREATE TRIGGER attempt_no_change BEFORE UPDATE OR DELETE ON attempt
    FOR EACH ROW EXECUTE FUNCTION attempt_is_append_only();
CREATE TRIGGER attempt_no_truncate BEFORE TRUNCATE ON attempt
    FOR EACH STATEMENT EXECUTE FUNCTION attempt_is_append_only();
