-- The uses of permissions that this device granted, at most one an ask: by which execution, of what, and when (Unix time
-- in milliseconds). The row is written in the transaction of its commit, before anybody is told. It does not follow from
-- the log, because another device can write what looks like a use. `replica` is what the store wrote as: a copy or a
-- restored backup writes as another one, and grants nothing that was asked before.
CREATE TABLE granted_use (
  ask BLOB NOT NULL,
  replica BLOB NOT NULL,
  execution TEXT NOT NULL,
  args_hash BLOB NOT NULL,
  granted_ms INTEGER NOT NULL,
  PRIMARY KEY (ask, replica)
) STRICT, WITHOUT ROWID;
