-- The commit log, its fold, and the indexes that follow from it. All of it but the log could be rebuilt.

-- One row: what this store is. `replica` is the incarnation that writes here, NULL until the first write;
-- `vault` the set of devices that it belongs to; `state_sum` the sum modulo 2^256 of the hashes of all
-- entities' folds; `stamp_ms` and `stamp_n` the last hybrid logical clock stamp used or followed.
CREATE TABLE standing (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  device BLOB NOT NULL,
  replica BLOB,
  vault BLOB,
  state_sum BLOB NOT NULL,
  entities INTEGER NOT NULL,
  stamp_ms INTEGER NOT NULL,
  stamp_n INTEGER NOT NULL
) STRICT;

-- Replicas by a small local number. The key is the one that the replica's first commit bound it to.
CREATE TABLE replica (
  no INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  key BLOB NOT NULL
) STRICT;

-- The chains of a replica. Branch 0 is the one met first; a replica with more than one branch has forked.
-- Commits of a branch begin at `first`; those before it lie on `parent`. The tip's full hash is what the next
-- commit must name as its previous one.
CREATE TABLE branch (
  replica INTEGER NOT NULL REFERENCES replica (no),
  no INTEGER NOT NULL,
  parent INTEGER,
  first INTEGER NOT NULL,
  tip INTEGER NOT NULL,
  tip_hash BLOB NOT NULL,
  PRIMARY KEY (replica, no)
) STRICT, WITHOUT ROWID;

-- The log in the order in which this store took it: causes before effects. `seq` is local and never sent.
-- `body` is the commit verbatim; `signature` is kept only where this store has checked it, since one
-- signature vouches for the chain below it.
CREATE TABLE feed (
  seq INTEGER PRIMARY KEY,
  replica INTEGER NOT NULL REFERENCES replica (no),
  counter INTEGER NOT NULL,
  branch INTEGER NOT NULL,
  hash8 BLOB NOT NULL,
  body BLOB NOT NULL,
  signature BLOB
) STRICT;
CREATE UNIQUE INDEX feed_by_head ON feed (replica, counter, hash8);

-- Entities as folded now. `state` is the fold's canonical form: versions and provenance, siblings included.
CREATE TABLE entity (
  id BLOB PRIMARY KEY,
  kind TEXT NOT NULL,
  visible INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  state BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_by_kind ON entity (kind, visible);

-- Which commits touched an entity: its history, in feed order.
CREATE TABLE history (
  entity BLOB NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (entity, seq)
) STRICT, WITHOUT ROWID;

-- Which entities an item's confirmation wrote: they are folded again when a verdict changes what is live.
CREATE TABLE effect (
  item BLOB NOT NULL,
  entity BLOB NOT NULL,
  PRIMARY KEY (item, entity)
) STRICT, WITHOUT ROWID;

-- Fields that point at other entities, by what they point at. Soft: a missing end is no error.
CREATE TABLE relation (
  target BLOB NOT NULL,
  name TEXT NOT NULL,
  owner BLOB NOT NULL,
  PRIMARY KEY (target, name, owner)
) STRICT, WITHOUT ROWID;

-- Occurrences of change items: the same item may be proposed by several runs, and a change set that two devices
-- made at once occurs twice.
CREATE TABLE proposal (
  item BLOB NOT NULL,
  change_set BLOB NOT NULL,
  position INTEGER NOT NULL,
  task BLOB NOT NULL,
  fingerprint BLOB NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (item, seq, change_set, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposal_by_task ON proposal (task, item);
CREATE INDEX proposal_by_fingerprint ON proposal (fingerprint, item);
CREATE INDEX proposal_by_set ON proposal (change_set, position);

-- Decisions on items, and in `item` what they amount to.
CREATE TABLE opinion (
  item BLOB NOT NULL,
  seq INTEGER NOT NULL,
  decision BLOB NOT NULL,
  verdict TEXT NOT NULL,
  by INTEGER NOT NULL,
  seen BLOB NOT NULL,
  PRIMARY KEY (item, seq, decision)
) STRICT, WITHOUT ROWID;
CREATE TABLE item (
  id BLOB PRIMARY KEY,
  status TEXT NOT NULL,
  disputed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How far each consumer on this device has read the feed.
CREATE TABLE watermark (
  consumer TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
