-- Commits whose values together exceed the limits of a commit (PROTOCOL.md §4.1), which only a patched device can make:
-- the two spellings, each within the limits, that show it. The feed has what is left of such a commit if all its long
-- values are dropped. This belongs to the log: nothing else tells that the commit is too long.
CREATE TABLE overlong (
  seq INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX overlong_by_seq ON overlong (seq);
