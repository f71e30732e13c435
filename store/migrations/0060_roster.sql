-- What the roster is followed by: a reader of its entries reads those that changed since it looked, and no others.

-- The entries of the roster by when they changed last.
CREATE INDEX entity_device_changed ON entity (changed) WHERE kind = 'device';

-- Entities that were entries of the roster and ceased to be, since another creation decides their kind now: each with
-- the feed position at which it happened. It depends on how many commits came at once, so no other device has the
-- same rows, and none that folds the log again. A row is a hint to look, and may stay when the entity came back.
CREATE TABLE former_entry (
  changed INTEGER NOT NULL,
  entity BLOB NOT NULL,
  PRIMARY KEY (changed, entity)
) STRICT, WITHOUT ROWID;
