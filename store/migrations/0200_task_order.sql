-- What tasks are sorted by beside their making: the priority, and the day on which they are due, "~" without one, so that
-- such a task comes last. Both follow from the state. They are NULL in a row of another kind, and in one that a version
-- before this one folded until the store has been opened.
ALTER TABLE entity ADD COLUMN priority TEXT;
ALTER TABLE entity ADD COLUMN due TEXT;
CREATE INDEX task_by_priority ON entity (visible, closed, priority, due, made_ms, made_n) WHERE kind = 'task';
CREATE INDEX task_by_due ON entity (visible, closed, due, priority, made_ms, made_n) WHERE kind = 'task';
