-- The numbered log, the attempts, and the stored answers.

-- Number of the last event and of the last attempt. Taken once per transaction, last before the events
-- are inserted, so that the order of numbers is the order of commits and no number is left out.
CREATE TABLE event_counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,
    attempt INTEGER NOT NULL
) STRICT;
INSERT INTO event_counter (id, number, attempt) VALUES (1, 0, 0);

-- Number of the last task.
CREATE TABLE task_counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
) STRICT;
INSERT INTO task_counter (id, number) VALUES (1, 10000);

CREATE TABLE dispatch_event (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    -- Unguessable and never used twice, not even after a restored backup.
    event_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('task', 'detail', 'rider', 'round', 'policy', 'admin')),
    -- What it is about, within its kind: a number.
    subject INTEGER NOT NULL,
    region_id INTEGER,
    task_id INTEGER REFERENCES task (id),
    from_revision INTEGER,
    to_revision INTEGER,
    action TEXT NOT NULL,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('system', 'intake', 'customer', 'rider', 'staff')),
    actor_id TEXT,
    rider_id INTEGER,
    mode TEXT,
    reason TEXT,
    key_hash TEXT,
    occurred_at INTEGER NOT NULL,
    detail_version INTEGER NOT NULL,
    detail TEXT NOT NULL,
    UNIQUE (task_id, to_revision),
    CONSTRAINT event_is_a_step CHECK (
        (kind = 'task'
            AND task_id IS NOT NULL AND from_revision IS NOT NULL AND to_revision IS NOT NULL
            AND to_revision = from_revision + 1)
        OR (kind <> 'task' AND from_revision IS NULL AND to_revision IS NULL)
    )
) STRICT;

-- Hand-backs are counted per rider and day.
CREATE INDEX dispatch_event_hand_back ON dispatch_event (rider_id, occurred_at) WHERE action = 'hand-back';

CREATE TRIGGER dispatch_event_no_update BEFORE UPDATE ON dispatch_event
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER dispatch_event_no_delete BEFORE DELETE ON dispatch_event
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

-- Every attempt, the losers' too.
CREATE TABLE attempt (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('system', 'intake', 'customer', 'rider', 'staff')),
    actor_id TEXT,
    key_hash TEXT,
    task_id INTEGER,
    verb TEXT NOT NULL,
    -- done, or the code of the answer.
    code TEXT NOT NULL,
    revision_seen INTEGER,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX attempt_task ON attempt (task_id, number);

CREATE TRIGGER attempt_no_update BEFORE UPDATE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER attempt_no_delete BEFORE DELETE ON attempt
BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;

-- The answer given under a request key, byte for byte. Kept for seven days.
CREATE TABLE command_outcome (
    principal TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    location TEXT,
    etag TEXT,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (principal, request_key)
) STRICT;
