-- The timers that recur: at which local time an agent of this device is to wake, and how often. `anchor_ms` is the first
-- time, `next_ms` the one that stands in `timer` now, Unix time in milliseconds. The row of `timer` goes when it fires;
-- the transaction that queues its run sets the next one.
CREATE TABLE recurring_timer (
  agent BLOB NOT NULL,
  anchor_ms INTEGER NOT NULL,
  every TEXT NOT NULL,
  next_ms INTEGER NOT NULL,
  PRIMARY KEY (agent, anchor_ms, every)
) STRICT, WITHOUT ROWID;
