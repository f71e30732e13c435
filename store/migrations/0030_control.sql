-- What this device's own interface keeps beside the log. None of it is sent to peers.

-- Answers given to writes that named a key: a retry gets the same answer and does nothing twice. A row is
-- written in the transaction of the write that it answers. `request` is SHA-256 over what was asked, so that a
-- key used for something else is noticed. Only the newest rows are kept; `no` is their order.
CREATE TABLE answer (
  no INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  request BLOB NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
