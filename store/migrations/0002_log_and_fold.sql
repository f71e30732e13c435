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
-- `body` is the commit verbatim, but for long values that compaction has dropped; `signature` is kept only where
-- this store has checked it, since one signature vouches for the chain below it.
CREATE TABLE feed (
  seq INTEGER PRIMARY KEY,
  replica INTEGER NOT NULL REFERENCES replica (no),
  counter INTEGER NOT NULL,
  branch INTEGER NOT NULL,
  hash BLOB NOT NULL,
  body BLOB NOT NULL,
  signature BLOB
) STRICT;
CREATE UNIQUE INDEX feed_by_head ON feed (replica, counter, hash);

-- Entities as folded now. `state` is the fold's canonical form: versions and provenance, siblings included. The
-- columns before it follow from it, for lists: `closed` is 1 for a task that is over and a time record that has
-- ended, `disputed` for what is in sight with a field of several values or a deletion that it outlived, `made_ms`
-- and `made_n` are the stamp of its birth. `no` is a small local number under which indexes know the entity; it is
-- never sent.
CREATE TABLE entity (
  no INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  visible INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  disputed INTEGER NOT NULL,
  made_ms INTEGER NOT NULL,
  made_n INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  state BLOB NOT NULL
) STRICT;
CREATE INDEX entity_in_order ON entity (kind, visible, closed, made_ms, made_n);
CREATE INDEX entity_disputed ON entity (kind, id) WHERE disputed;

-- The words of entities, a row each under its `no`, and in `name` the beginning of its id as people write it: a
-- word index grows at its end where a tree over random ids would be rewritten all over. `title` holds titles of
-- tasks, `text` all other words of a task and what belongs to it, `tags` the ids of a task's labels and category
-- as people write them, `label` the names of labels and categories. Nothing of the words is kept but the index.
CREATE VIRTUAL TABLE search USING fts5 (
  name, title, text, tags, label,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('rank', 'bm25(0.0, 10.0, 1.0, 5.0, 0.0)');

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
CREATE INDEX proposal_by_text ON proposal (substr(item, 10));

-- Decisions on items, and in `item` what they amount to. An item has its row from the first proposal or decision
-- on. `until_ms` is how long it may wait: until its last proposal expires (Unix time in milliseconds), and for ever
-- (the greatest integer) from its first decision on.
CREATE TABLE opinion (
  item BLOB NOT NULL,
  seq INTEGER NOT NULL,
  decision BLOB NOT NULL,
  verdict TEXT NOT NULL,
  by INTEGER NOT NULL,
  seen BLOB NOT NULL,
  PRIMARY KEY (item, seq, decision)
) STRICT, WITHOUT ROWID;
CREATE INDEX opinion_by_seq ON opinion (seq);
CREATE TABLE item (
  id BLOB PRIMARY KEY,
  status TEXT NOT NULL,
  disputed INTEGER NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX item_open ON item (until_ms) WHERE disputed OR status IN ('pending', 'deferred');

-- How far each consumer on this device has read the feed.
CREATE TABLE watermark (
  consumer TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
