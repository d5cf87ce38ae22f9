-- Live readers ask who was asked for a task, whatever became of the round.

CREATE INDEX round_of_task ON round (task_id);
