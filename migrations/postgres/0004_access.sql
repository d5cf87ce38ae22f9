-- Who comes in (scripts, browsers, customers), and the lists that pages and scripts read.

-- A script's token: `desk_<id>_<secret>`. Only the hash of the secret is kept.
CREATE TABLE api_token (
    id TEXT PRIMARY KEY,
    secret_hash TEXT NOT NULL,
    label TEXT NOT NULL,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('intake', 'rider', 'staff')),
    actor_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);

CREATE TABLE staff_password (
    staff_id BIGINT PRIMARY KEY REFERENCES staff (id),
    login TEXT NOT NULL UNIQUE,
    -- The hash with its salt and its cost, as one text (PHC).
    phc TEXT NOT NULL
);

-- A link that signs somebody in. Only its hash is kept.
CREATE TABLE sign_in_link (
    hash TEXT PRIMARY KEY,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('rider', 'staff')),
    actor_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    uses_left BIGINT NOT NULL CHECK (uses_left >= 0)
);

CREATE INDEX sign_in_link_over ON sign_in_link (expires_at);

-- Of a browser's session only the hash of its id is kept. Who owns it is a column, so that all of
-- somebody's sessions can be ended at once.
CREATE TABLE web_session (
    hash TEXT PRIMARY KEY,
    -- Nobody, before the sign-in, is the empty text.
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('', 'intake', 'customer', 'rider', 'staff')),
    actor_id TEXT NOT NULL,
    data TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);

CREATE INDEX web_session_owner ON web_session (actor_kind, actor_id);
CREATE INDEX web_session_seen ON web_session (seen_at);

-- The customer's link: unguessable, one for each task, gone with the personal data.
ALTER TABLE task_detail ADD COLUMN tracking_token TEXT;
CREATE UNIQUE INDEX task_detail_tracking ON task_detail (tracking_token) WHERE tracking_token IS NOT NULL;

-- Lists by region and state, in pages that start after a task's number.
CREATE INDEX task_listed ON task (region_id, state, stage, id);
-- A reader of one region's events goes on after a number.
CREATE INDEX dispatch_event_region ON dispatch_event (region_id, number);
-- What the board counts: endings of today, declined and lapsed offers of the last minutes.
CREATE INDEX dispatch_event_counted ON dispatch_event (region_id, action, occurred_at)
    WHERE action IN ('deliver', 'cancel', 'decline', 'expire');
-- Refusals of today.
CREATE INDEX attempt_refused ON attempt (at) WHERE code NOT IN ('done', 'ALREADY_DONE', 'ALREADY_YOURS');
-- A rider's offers, the latest first.
CREATE INDEX offer_of_rider ON offer (rider_id, offered_at);
