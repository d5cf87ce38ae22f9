-- Rounds: who was asked, how far, what they answered; what is searched for now; what nobody took.
-- Both tables of 0002 are made anew: what they held goes over.
CREATE TABLE round_before AS SELECT n.*, t.region_id FROM round n JOIN task t ON t.id = n.task_id;
CREATE TABLE candidate_before AS SELECT * FROM round_candidate;
DROP TABLE round_candidate;
DROP TABLE round;

-- Number of the last round.
CREATE TABLE round_counter (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL
);
INSERT INTO round_counter (id, number) SELECT 1, COALESCE(MAX(id), 0) FROM round_before;

CREATE TABLE round (
    id BIGINT PRIMARY KEY,
    task_id BIGINT NOT NULL REFERENCES task (id),
    region_id BIGINT NOT NULL REFERENCES region (id),
    -- The first, second … round of the task.
    step BIGINT NOT NULL CHECK (step > 0),
    -- How often the search had begun by then.
    search BIGINT NOT NULL CHECK (search > 0),
    kind TEXT NOT NULL CHECK (kind IN ('broadcast', 'exclusive')),
    status TEXT NOT NULL CHECK (status IN ('running', 'placed', 'passed', 'exhausted', 'stopped', 'void')),
    started_at BIGINT NOT NULL,
    until BIGINT NOT NULL CHECK (until > started_at),
    ended_at BIGINT,
    -- Place in the ladder, and its circle in metres; none where distance did not count.
    rung BIGINT NOT NULL CHECK (rung >= 0),
    radius_m BIGINT CHECK (radius_m IS NULL OR radius_m > 0),
    -- Riders who are on duty in the region and were not looked at: others were nearer.
    farther BIGINT NOT NULL DEFAULT 0 CHECK (farther >= 0),
    fair_window_ms BIGINT NOT NULL DEFAULT 0 CHECK (fair_window_ms >= 0),
    policy_version BIGINT NOT NULL,
    UNIQUE (task_id, step),
    CHECK ((status = 'running') = (ended_at IS NULL))
);

INSERT INTO round (id, task_id, region_id, step, search, kind, status, started_at, until, ended_at, rung, policy_version)
SELECT b.id, b.task_id, b.region_id, (SELECT COUNT(*) FROM round_before o WHERE o.task_id = b.task_id AND o.id <= b.id),
    1, 'broadcast', b.status, b.started_at, b.until, CASE WHEN b.status = 'running' THEN NULL ELSE b.until END, 0,
    b.policy_version
FROM round_before b;

CREATE UNIQUE INDEX round_running ON round (task_id) WHERE status = 'running';
CREATE INDEX round_started ON round (region_id, started_at);

CREATE TABLE round_candidate (
    round_id BIGINT NOT NULL REFERENCES round (id),
    rider_id BIGINT NOT NULL REFERENCES rider (id),
    rank BIGINT CHECK (rank IS NULL OR rank > 0),
    distance_m BIGINT CHECK (distance_m IS NULL OR distance_m >= 0),
    factors TEXT,
    excluded_reason TEXT,
    -- What the ticket is made of, together with a key that is kept elsewhere.
    nonce TEXT,
    -- The ticket is good from the one to the other.
    sent_at BIGINT,
    until BIGINT,
    shown_at BIGINT,
    answered_at BIGINT,
    answer TEXT CHECK (answer IS NULL OR answer IN ('grabbed', 'accepted', 'declined')),
    PRIMARY KEY (round_id, rider_id),
    -- Asked with a ticket, or left out for a reason.
    CHECK ((nonce IS NULL) = (excluded_reason IS NOT NULL)),
    CHECK ((nonce IS NULL) = (rank IS NULL) AND (nonce IS NULL) = (sent_at IS NULL)
        AND (nonce IS NULL) = (until IS NULL)),
    CHECK ((answer IS NULL) = (answered_at IS NULL) AND (answer IS NULL OR nonce IS NOT NULL))
);

INSERT INTO round_candidate (round_id, rider_id, rank, distance_m, factors, excluded_reason, nonce, sent_at, until,
    shown_at, answered_at, answer)
SELECT c.round_id, c.rider_id, CASE WHEN c.nonce IS NULL THEN NULL ELSE COALESCE(c.rank, 1) END,
    CAST(c.distance_m AS BIGINT), CASE WHEN c.nonce IS NULL THEN NULL ELSE COALESCE(c.factors, '{}') END,
    c.excluded_reason, c.nonce, CASE WHEN c.nonce IS NULL THEN NULL ELSE COALESCE(c.sent_at, b.started_at) END,
    CASE WHEN c.nonce IS NULL THEN NULL ELSE b.until END, c.shown_at,
    CASE WHEN c.nonce IS NOT NULL AND c.answer IN ('grabbed', 'declined') THEN COALESCE(c.answered_at, b.until) END,
    CASE WHEN c.nonce IS NOT NULL AND c.answer IN ('grabbed', 'declined') THEN c.answer END
FROM candidate_before c JOIN round_before b ON b.id = c.round_id;
DROP TABLE candidate_before;
DROP TABLE round_before;

-- A rider's tickets, and what was asked of a rider lately.
CREATE INDEX round_candidate_rider ON round_candidate (rider_id, until) WHERE nonce IS NOT NULL;

-- Tasks that the desk finds somebody for by itself, and when it has to do something next.
CREATE TABLE search (
    task_id BIGINT PRIMARY KEY REFERENCES task (id),
    due_at BIGINT NOT NULL,
    search BIGINT NOT NULL CHECK (search > 0)
);
CREATE INDEX search_due ON search (due_at, task_id);

-- Tasks that the rounds could not place.
CREATE TABLE manual_pool (
    task_id BIGINT PRIMARY KEY REFERENCES task (id),
    region_id BIGINT NOT NULL REFERENCES region (id),
    -- Where the pickup is: an H3 cell of resolution 7, about 5 km².
    cell BIGINT NOT NULL,
    since BIGINT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN
        ('nobody_found', 'nobody_answered', 'all_declined', 'offers_spent', 'searched_too_often'))
);
CREATE INDEX manual_pool_listed ON manual_pool (region_id, since, task_id);

-- What riders declined before this instant does not count any more.
CREATE TABLE decline_reset (
    task_id BIGINT PRIMARY KEY REFERENCES task (id),
    at BIGINT NOT NULL
);

-- Grabs that wait for the end of a fair window.
CREATE TABLE grab_intent (
    round_id BIGINT NOT NULL REFERENCES round (id),
    principal TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    rider_id BIGINT NOT NULL REFERENCES rider (id),
    command TEXT NOT NULL,
    at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (principal, request_key)
);
CREATE INDEX grab_intent_due ON grab_intent (due_at, round_id);

-- How far readers of the log that act on it have come. What happened before this version starts no search.
CREATE TABLE log_cursor (
    reader TEXT PRIMARY KEY,
    number BIGINT NOT NULL
);
INSERT INTO log_cursor (reader, number) SELECT 'rounds', number FROM event_counter;
