-- What tasks are grouped by beside their day: the status, "OPEN" for what names none, and the day before which the task
-- does not show, "" without one. Both follow from the state, and are NULL as those of 0200_task_order.sql are. A `due`
-- that is no day is "~" as none is. The indexes end with the start, so that what has not begun is passed over in them.
ALTER TABLE entity ADD COLUMN status TEXT;
ALTER TABLE entity ADD COLUMN start TEXT;
DROP INDEX task_by_priority;
DROP INDEX task_by_due;
CREATE INDEX task_by_priority ON entity (visible, closed, priority, due, made_ms, made_n, start) WHERE kind = 'task';
CREATE INDEX task_by_due ON entity (visible, closed, due, priority, made_ms, made_n, start) WHERE kind = 'task';
CREATE INDEX task_by_status ON entity (visible, status, due, priority, made_ms, made_n, start) WHERE kind = 'task';
CREATE INDEX task_by_start ON entity (visible, closed, start) WHERE kind = 'task' AND start > '';
