-- What one request wrote here, where that is more than one commit: a row for each run of its commits, from the counter
-- `first` up to `last`, whose hash is `last_hash`, on the chain of `replica`. `change` is the counter of the first commit of
-- the whole, the same in all of its rows. `no` orders the rows as they were made; the oldest of too many are deleted. What has
-- no row is a commit by itself. Only this device asks for it, to name what was written last.
CREATE TABLE change_part (
  no INTEGER PRIMARY KEY,
  replica BLOB NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  last_hash BLOB NOT NULL,
  change INTEGER NOT NULL
) STRICT;
CREATE INDEX change_part_end ON change_part (replica, last);
CREATE INDEX change_part_change ON change_part (replica, change);
