-- How often personal data was erased while a session lived: what it was read with before, it does not bring back.

ALTER TABLE web_session ADD COLUMN erasures INTEGER NOT NULL DEFAULT 0;
