-- If a data folder was copied, two daemons look into a mailbox with the key of one device: each is a holder by itself,
-- known by 8 random bytes that are said inside its haves. No bytes stand for a have that does not say them, or that is
-- sealed to others. What was noticed before is noticed anew at the next look.
DROP TABLE mailbox_have;

-- The newest have of each holder that was noticed in a mailbox, also this device's own as it was left there: the number of
-- the first one and of the newest, SHA-256 of that, and when it was noticed (Unix time in milliseconds). One with a lower
-- number is no sign of life, and says nothing. If a holder goes on after another one of its device began, both live.
CREATE TABLE mailbox_have (
  mailbox TEXT NOT NULL,
  device BLOB NOT NULL,
  holder BLOB NOT NULL,
  first_number INTEGER NOT NULL,
  number INTEGER NOT NULL,
  digest BLOB NOT NULL,
  noticed_ms INTEGER NOT NULL,
  PRIMARY KEY (mailbox, device, holder)
) STRICT, WITHOUT ROWID;

-- As which holder this device leaves its haves in a mailbox. It stays if a person removes the mailbox.
CREATE TABLE own_holder (
  mailbox TEXT PRIMARY KEY,
  holder BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- As which replica a peer wrote when it was last heard of, NULL if it did not say: the vector speaks for that one alone.
ALTER TABLE peer ADD COLUMN replica BLOB;
