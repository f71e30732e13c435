-- What only a backup holds. Empty in a database that is in use.

-- One row, in a backup that was made with its device's key: that key, sealed under a passphrase. Whoever reads
-- the file without the passphrase learns nothing of it; a restore takes it out.
CREATE TABLE sealed_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  sealed BLOB NOT NULL
) STRICT;
