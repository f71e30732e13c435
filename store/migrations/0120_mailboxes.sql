-- What this device alone knows of mailboxes: places that keep sealed commits for devices that never meet. None of it is
-- sent; what lies in a mailbox is found by looking into it.

-- The mailboxes that a person gave this device. `kind` says which carrier, `place` is in the carrier's own words.
CREATE TABLE mailbox (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  place TEXT NOT NULL,
  added_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The newest have of each member that was noticed in a mailbox: SHA-256 of it, and when that was (Unix time in
-- milliseconds). A have that was noticed before is no sign of life, however often it is looked at.
CREATE TABLE mailbox_have (
  mailbox TEXT NOT NULL,
  device BLOB NOT NULL,
  digest BLOB NOT NULL,
  noticed_ms INTEGER NOT NULL,
  PRIMARY KEY (mailbox, device)
) STRICT, WITHOUT ROWID;
