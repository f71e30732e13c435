-- What agents of other makers have spent of their daily limits on this device: asks, proposals or bytes, by the day of
-- UTC, counted from 1970. Older days are deleted as newer ones come.
CREATE TABLE daily_spending (
  agent BLOB NOT NULL,
  kind TEXT NOT NULL,
  day INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (agent, kind, day)
) STRICT, WITHOUT ROWID;
