-- What verdicts on an item or an ask need in order to count (store/fold/item_name.py). Its id follows from that, so there
-- is one requirement at most. Without a row, every verdict of a person counts.
CREATE TABLE requirement (
  item BLOB PRIMARY KEY,
  presence TEXT NOT NULL,
  home BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The passkeys with which people decide: the public key, and the domain that it is for.
CREATE TABLE passkey (
  entity BLOB PRIMARY KEY,
  key BLOB NOT NULL,
  rp_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether a decision is what its item needs, and the passkey that it names.
ALTER TABLE opinion ADD COLUMN counts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE opinion ADD COLUMN passkey BLOB;
CREATE INDEX opinion_by_passkey ON opinion (passkey) WHERE passkey IS NOT NULL;
