-- The invitations through mailboxes that were used, by their tags: each lets in one device, once. A row is written in the
-- transaction that lets the device in, and on the device itself in the one by which it joins. No secret follows from a tag.
CREATE TABLE used_invitation (
  tag BLOB PRIMARY KEY,
  device BLOB NOT NULL,
  used_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
