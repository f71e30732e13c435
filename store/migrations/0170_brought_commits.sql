-- Which mailbox brought which commits to this device: ranges of feed positions, with the name that the mailbox had then.
CREATE TABLE brought_range (
  first_seq INTEGER PRIMARY KEY,
  last_seq INTEGER NOT NULL,
  mailbox TEXT NOT NULL
) STRICT;
