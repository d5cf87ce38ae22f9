-- Who may what: factors and passwords, links with a purpose, tokens with a scope, how often somebody failed to sign in.

ALTER TABLE staff_password ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;

-- The second factor of staff: a time-based code (RFC 6238). It counts once it was confirmed.
CREATE TABLE staff_factor (
    staff_id INTEGER PRIMARY KEY REFERENCES staff (id),
    secret TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    -- The last step that was used: a code is good once, and never an older one after it.
    last_step INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Codes for when the device is lost. Each is good once; only its hash is kept.
CREATE TABLE recovery_code (
    staff_id INTEGER NOT NULL REFERENCES staff (id),
    hash TEXT NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (staff_id, hash)
) STRICT, WITHOUT ROWID;

-- Riders sign in with their phone number.
CREATE TABLE rider_password (
    rider_id INTEGER PRIMARY KEY REFERENCES rider (id),
    phone TEXT NOT NULL UNIQUE,
    phc TEXT NOT NULL,
    set_at INTEGER NOT NULL
) STRICT;

-- How often signing in failed, by account and by peer, for all nodes. The bucket is a hash: what somebody typed as
-- their name may be their password.
CREATE TABLE sign_in_attempt (
    bucket TEXT PRIMARY KEY,
    failures INTEGER NOT NULL CHECK (failures >= 0),
    since INTEGER NOT NULL,
    last_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_attempt_last ON sign_in_attempt (last_at);

-- What a link is for: to come in, to set one's own password, to set the desk up.
ALTER TABLE sign_in_link ADD COLUMN purpose TEXT NOT NULL DEFAULT 'enter'
    CHECK (purpose IN ('enter', 'password', 'setup'));

-- What a script may do, and where. No regions: those of whom it speaks for.
ALTER TABLE api_token ADD COLUMN actions TEXT NOT NULL DEFAULT 'all';
ALTER TABLE api_token ADD COLUMN regions TEXT;
ALTER TABLE api_token ADD COLUMN expires_at INTEGER;
ALTER TABLE api_token ADD COLUMN used_at INTEGER;
CREATE INDEX api_token_actor ON api_token (actor_kind, actor_id);

-- By what its owner knows a session: the browser.
ALTER TABLE web_session ADD COLUMN device TEXT NOT NULL DEFAULT '';

ALTER TABLE region ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
-- How many days personal data stays after a task is over; none keeps it.
ALTER TABLE region ADD COLUMN retention_days INTEGER CHECK (retention_days IS NULL OR retention_days > 0);

-- What holds for the whole desk.
CREATE TABLE desk_rule (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    factor_required INTEGER NOT NULL CHECK (factor_required IN (0, 1)),
    revision INTEGER NOT NULL CHECK (revision > 0)
) STRICT;
INSERT INTO desk_rule (id, factor_required, revision) VALUES (1, 0, 1);

-- When the personal data of a task was erased.
ALTER TABLE task_detail ADD COLUMN erased_at INTEGER;

-- What was done to one of the desk's people, regions or rules, the latest first.
CREATE INDEX dispatch_event_admin ON dispatch_event (subject, number) WHERE kind IN ('admin', 'rider', 'policy');
