-- Personal data is erased: the tasks of a region that are over, in the order in which they were over.
CREATE INDEX task_over ON task (region_id, changed_at, id) WHERE state = 'cancelled' OR stage = 'delivered';

-- What was over before this instant has been erased: the next look begins there.
ALTER TABLE region ADD COLUMN erased_to BIGINT NOT NULL DEFAULT 0;
