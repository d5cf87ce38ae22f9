-- Seals over the log, and the auditor's search.

-- Each seal closes a range of events and a range of attempts, both without holes, and goes on where the seal before it
-- ended. A range may be empty, but not both: then its last number is the one before its first.
CREATE TABLE audit_seal (
    number BIGINT PRIMARY KEY CHECK (number > 0),
    first_event BIGINT NOT NULL CHECK (first_event > 0),
    last_event BIGINT NOT NULL CHECK (last_event >= first_event - 1),
    first_attempt BIGINT NOT NULL CHECK (first_attempt > 0),
    last_attempt BIGINT NOT NULL CHECK (last_attempt >= first_attempt - 1),
    -- The end of the running SHA-256 chain over all rows up to here, in hexadecimal.
    digest TEXT NOT NULL,
    -- The digest of the seal before; zeros for the first.
    prev TEXT NOT NULL,
    -- Eight bytes of each row's own digest, in order: they tell which row was changed.
    marks TEXT NOT NULL,
    -- Which key, and the HMAC-SHA-256 under it. The key is kept outside of the database.
    key_id TEXT NOT NULL,
    mac TEXT NOT NULL,
    at BIGINT NOT NULL,
    -- Two sealers that go on from the same place: one of them wins.
    UNIQUE (first_event, first_attempt),
    CONSTRAINT seal_is_not_empty CHECK (last_event >= first_event OR last_attempt >= first_attempt)
);

CREATE FUNCTION audit_seal_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'seals are append-only'; END $$;
CREATE TRIGGER audit_seal_no_change BEFORE UPDATE OR DELETE ON audit_seal
    FOR EACH ROW EXECUTE FUNCTION audit_seal_is_append_only();
CREATE TRIGGER audit_seal_no_truncate BEFORE TRUNCATE ON audit_seal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_seal_is_append_only();

-- The auditor's page and export walk through the log by time, the latest first: all of it,
CREATE INDEX dispatch_event_time ON dispatch_event (occurred_at, number);
CREATE INDEX attempt_time ON attempt (at, number);
-- what concerns one rider,
CREATE INDEX dispatch_event_rider ON dispatch_event (rider_id, occurred_at, number) WHERE rider_id IS NOT NULL;
-- and what somebody did,
CREATE INDEX dispatch_event_actor ON dispatch_event (actor_kind, actor_id, occurred_at, number)
    WHERE actor_kind <> 'system';
-- or tried. What the system does is most of what is not done by people, and found by time.
CREATE INDEX attempt_actor ON attempt (actor_kind, actor_id, at, number) WHERE actor_kind <> 'system';
