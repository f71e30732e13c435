-- The name of the change that a request made, as it stood in the header of its answer: a retry gets it too. It is empty if
-- the request wrote nothing.
ALTER TABLE answer ADD COLUMN change TEXT NOT NULL DEFAULT '';
