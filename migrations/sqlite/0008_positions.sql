-- Positions: the device that counts them and what its own clock said; and what looks wrong about riders.

-- Empty: as `at`. The device is a number that tells devices apart; 0 is one that says nothing of itself.
ALTER TABLE rider_location ADD COLUMN taken_at INTEGER;
ALTER TABLE rider_location ADD COLUMN device INTEGER NOT NULL DEFAULT 0;

-- Which devices riders have been using.
CREATE TABLE rider_device (
    device INTEGER NOT NULL,
    rider_id INTEGER NOT NULL REFERENCES rider (id),
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (device, rider_id)
) STRICT, WITHOUT ROWID;

-- What looks wrong, with its evidence. One row per rider and kind until somebody dismisses it.
CREATE TABLE rider_signal (
    id INTEGER PRIMARY KEY,
    rider_id INTEGER NOT NULL REFERENCES rider (id),
    kind TEXT NOT NULL CHECK (kind IN ('speed', 'teleport', 'shared_device', 'grab_rate')),
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    times INTEGER NOT NULL CHECK (times > 0),
    evidence TEXT NOT NULL,
    dismissed_at INTEGER,
    dismissed_by INTEGER REFERENCES staff (id),
    CHECK ((dismissed_at IS NULL) = (dismissed_by IS NULL))
) STRICT;

CREATE UNIQUE INDEX rider_signal_open ON rider_signal (rider_id, kind) WHERE dismissed_at IS NULL;
CREATE INDEX rider_signal_of ON rider_signal (rider_id, last_at);
