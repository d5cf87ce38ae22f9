-- Regions with their rules, riders and staff.
-- Ids and times are 64-bit integers; times are epoch milliseconds, UTC.

CREATE TABLE region (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    area TEXT NOT NULL
);

-- Versions are added, never edited: offers and rounds record the one they used.
CREATE TABLE policy (
    region_id BIGINT NOT NULL REFERENCES region (id),
    version BIGINT NOT NULL CHECK (version > 0),
    starts_at BIGINT NOT NULL,
    rules TEXT NOT NULL,
    PRIMARY KEY (region_id, version)
);

CREATE TABLE rider (
    id BIGINT PRIMARY KEY,
    region_id BIGINT NOT NULL REFERENCES region (id),
    name TEXT NOT NULL,
    phone TEXT,
    capacity BIGINT NOT NULL CHECK (capacity BETWEEN 0 AND 1000),
    duty TEXT NOT NULL CHECK (duty IN ('on', 'paused', 'off')),
    disabled BIGINT NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    vehicle TEXT CHECK (vehicle IS NULL OR vehicle IN ('foot', 'bicycle', 'motorcycle', 'car', 'van')),
    risk_rejected BIGINT NOT NULL DEFAULT 0 CHECK (risk_rejected IN (0, 1)),
    revision BIGINT NOT NULL DEFAULT 1 CHECK (revision > 0)
);

-- The last fix only.
CREATE TABLE rider_location (
    rider_id BIGINT PRIMARY KEY REFERENCES rider (id),
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    lat DOUBLE PRECISION NOT NULL CHECK (lat BETWEEN -90 AND 90),
    lng DOUBLE PRECISION NOT NULL CHECK (lng BETWEEN -180 AND 180),
    accuracy_m DOUBLE PRECISION
);

CREATE TABLE staff (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('dispatcher', 'supervisor', 'admin', 'auditor')),
    disabled BIGINT NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    revision BIGINT NOT NULL DEFAULT 1 CHECK (revision > 0)
);

CREATE TABLE staff_region (
    staff_id BIGINT NOT NULL REFERENCES staff (id),
    region_id BIGINT NOT NULL REFERENCES region (id),
    PRIMARY KEY (staff_id, region_id)
);

CREATE FUNCTION policy_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'policy versions are never edited'; END $$;
CREATE TRIGGER policy_no_change BEFORE UPDATE OR DELETE ON policy
    FOR EACH ROW EXECUTE FUNCTION policy_is_append_only();
CREATE TRIGGER policy_no_truncate BEFORE TRUNCATE ON policy
    FOR EACH STATEMENT EXECUTE FUNCTION policy_is_append_only();
