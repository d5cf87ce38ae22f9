-- Regions with their rules, riders and staff.
-- Ids and times are 64-bit integers; times are epoch milliseconds, UTC.

CREATE TABLE region (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    area TEXT NOT NULL
) STRICT;

-- Versions are added, never edited: offers and rounds record the one they used.
CREATE TABLE policy (
    region_id INTEGER NOT NULL REFERENCES region (id),
    version INTEGER NOT NULL CHECK (version > 0),
    starts_at INTEGER NOT NULL,
    rules TEXT NOT NULL,
    PRIMARY KEY (region_id, version)
) STRICT;

CREATE TRIGGER policy_no_update BEFORE UPDATE ON policy
BEGIN SELECT RAISE(ABORT, 'policy versions are never edited'); END;
CREATE TRIGGER policy_no_delete BEFORE DELETE ON policy
BEGIN SELECT RAISE(ABORT, 'policy versions are never deleted'); END;

CREATE TABLE rider (
    id INTEGER PRIMARY KEY,
    region_id INTEGER NOT NULL REFERENCES region (id),
    name TEXT NOT NULL,
    phone TEXT,
    capacity INTEGER NOT NULL CHECK (capacity BETWEEN 0 AND 1000),
    duty TEXT NOT NULL CHECK (duty IN ('on', 'paused', 'off')),
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    vehicle TEXT CHECK (vehicle IS NULL OR vehicle IN ('foot', 'bicycle', 'motorcycle', 'car', 'van')),
    risk_rejected INTEGER NOT NULL DEFAULT 0 CHECK (risk_rejected IN (0, 1)),
    revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0)
) STRICT;

-- The last fix only.
CREATE TABLE rider_location (
    rider_id INTEGER PRIMARY KEY REFERENCES rider (id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    lat REAL NOT NULL CHECK (lat BETWEEN -90 AND 90),
    lng REAL NOT NULL CHECK (lng BETWEEN -180 AND 180),
    accuracy_m REAL
) STRICT;

CREATE TABLE staff (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('dispatcher', 'supervisor', 'admin', 'auditor')),
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0)
) STRICT;

CREATE TABLE staff_region (
    staff_id INTEGER NOT NULL REFERENCES staff (id),
    region_id INTEGER NOT NULL REFERENCES region (id),
    PRIMARY KEY (staff_id, region_id)
) STRICT, WITHOUT ROWID;
