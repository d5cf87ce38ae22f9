-- Tasks, what is written on them, and who was asked.

CREATE TABLE task (
    id BIGINT PRIMARY KEY,
    region_id BIGINT NOT NULL REFERENCES region (id),
    source TEXT NOT NULL,
    request_key TEXT NOT NULL,
    -- What was asked for under that key, so that the key still protects when the stored answer has expired.
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'offered', 'assigned', 'cancelled')),
    rider_id BIGINT REFERENCES rider (id),
    -- 0 … capacity-1; -id while places change hands inside one transaction.
    rider_slot BIGINT CHECK (rider_slot IS NULL OR rider_slot >= 0 OR rider_slot = -id),
    stage TEXT,
    mode TEXT,
    offer_until BIGINT,
    revision BIGINT NOT NULL CHECK (revision > 0),
    release_at BIGINT NOT NULL,
    vehicle TEXT CHECK (vehicle IS NULL OR vehicle IN ('foot', 'bicycle', 'motorcycle', 'car', 'van')),
    priority BIGINT NOT NULL DEFAULT 0,
    changed_at BIGINT NOT NULL,
    changed_by_kind TEXT NOT NULL CHECK (changed_by_kind IN ('system', 'intake', 'customer', 'rider', 'staff')),
    changed_by_id TEXT,
    UNIQUE (source, request_key),
    CONSTRAINT task_is_whole CHECK (
        (state IN ('open', 'cancelled')
            AND rider_id IS NULL AND rider_slot IS NULL AND offer_until IS NULL
            AND stage IS NULL AND mode IS NULL)
        OR (state = 'offered'
            AND rider_id IS NOT NULL AND rider_slot IS NOT NULL AND offer_until IS NOT NULL
            AND stage IS NULL AND mode IS NULL)
        OR (state = 'assigned'
            AND rider_id IS NOT NULL AND offer_until IS NULL
            AND mode IS NOT NULL AND mode IN ('grabbed', 'confirmed', 'direct')
            AND stage IS NOT NULL
            AND ((stage IN ('waiting', 'at_pickup', 'picked_up') AND rider_slot IS NOT NULL)
                OR (stage = 'delivered' AND rider_slot IS NULL)))
    )
);

-- A rider's place holds one task or offer: capacity is this constraint, not a count.
CREATE UNIQUE INDEX task_rider_slot ON task (rider_id, rider_slot) WHERE rider_slot IS NOT NULL;
-- The expiry reads deadlines in order.
CREATE INDEX task_offer_until ON task (offer_until, id) WHERE state = 'offered';

-- Personal data and free text: erasable, outside of the log.
CREATE TABLE task_detail (
    task_id BIGINT PRIMARY KEY REFERENCES task (id),
    detail_revision BIGINT NOT NULL CHECK (detail_revision > 0),
    pickup_lat DOUBLE PRECISION NOT NULL,
    pickup_lng DOUBLE PRECISION NOT NULL,
    pickup_address TEXT NOT NULL,
    pickup_name TEXT,
    pickup_phone TEXT,
    dropoff_lat DOUBLE PRECISION NOT NULL,
    dropoff_lng DOUBLE PRECISION NOT NULL,
    dropoff_address TEXT NOT NULL,
    dropoff_name TEXT,
    dropoff_phone TEXT,
    ready_at BIGINT,
    due_at BIGINT,
    fee BIGINT,
    note TEXT
);

CREATE TABLE offer (
    task_id BIGINT NOT NULL REFERENCES task (id),
    -- The revision that the offer made: the one that its rider names.
    revision BIGINT NOT NULL CHECK (revision > 0),
    token TEXT NOT NULL UNIQUE,
    rider_id BIGINT NOT NULL REFERENCES rider (id),
    offered_at BIGINT NOT NULL,
    offer_until BIGINT NOT NULL CHECK (offer_until > offered_at),
    sent_at BIGINT,
    shown_at BIGINT,
    answered_at BIGINT,
    answer TEXT CHECK (answer IS NULL OR answer IN ('accepted', 'declined', 'withdrawn', 'expired', 'cancelled')),
    reason TEXT,
    policy_version BIGINT NOT NULL,
    PRIMARY KEY (task_id, revision),
    CHECK ((answer IS NULL) = (answered_at IS NULL))
);

-- One offer waits on a task, at most.
CREATE UNIQUE INDEX offer_waiting ON offer (task_id) WHERE answer IS NULL;

CREATE TABLE round (
    id BIGINT PRIMARY KEY,
    task_id BIGINT NOT NULL REFERENCES task (id),
    status TEXT NOT NULL CHECK (status IN ('running', 'placed', 'exhausted')),
    started_at BIGINT NOT NULL,
    until BIGINT NOT NULL CHECK (until > started_at),
    policy_version BIGINT NOT NULL
);

CREATE UNIQUE INDEX round_running ON round (task_id) WHERE status = 'running';

CREATE TABLE round_candidate (
    round_id BIGINT NOT NULL REFERENCES round (id),
    rider_id BIGINT NOT NULL REFERENCES rider (id),
    rank BIGINT,
    distance_m DOUBLE PRECISION,
    factors TEXT,
    excluded_reason TEXT,
    nonce TEXT,
    sent_at BIGINT,
    shown_at BIGINT,
    answered_at BIGINT,
    answer TEXT,
    PRIMARY KEY (round_id, rider_id),
    -- Asked with a ticket, or left out for a reason.
    CHECK ((nonce IS NULL) = (excluded_reason IS NOT NULL))
);
