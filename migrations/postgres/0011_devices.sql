-- Telephones that were used too long ago to be shared with anybody are forgotten.

CREATE INDEX rider_device_seen ON rider_device (seen_at);
