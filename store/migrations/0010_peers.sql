-- What this device alone knows of other devices. All of it is a hint or can be had anew; none of it is sent.

-- Each peer that was ever linked: when it was last heard of (Unix time in milliseconds), and the version vector
-- that it was last known to hold, canonical MessagePack. What it lacks is counted from that vector. `differs_ms` is
-- when it showed another state for the same commits, NULL where it agreed when last compared, or never was.
CREATE TABLE peer (
  device BLOB PRIMARY KEY,
  seen_ms INTEGER NOT NULL,
  vector BLOB NOT NULL,
  differs_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Where a peer may be reached, as host:port. `good_ms` is when a link was last made there, 0 where it never
-- was. A wrong row costs a failed dial: whoever answers must show the peer's certificate.
CREATE TABLE peer_address (
  device BLOB NOT NULL,
  address TEXT NOT NULL,
  good_ms INTEGER NOT NULL,
  PRIMARY KEY (device, address)
) STRICT, WITHOUT ROWID;

-- Devices that proved the secret of an invitation and have not yet come back over mutual TLS. Such a row lets a
-- certificate through the listener's TLS and becomes a roster commit when it is used; past `expires_ms` it
-- counts for nothing. `name` and `addresses` (one a line) are the newcomer's own words.
CREATE TABLE newcomer (
  device BLOB PRIMARY KEY,
  certificate BLOB NOT NULL,
  name TEXT NOT NULL,
  addresses TEXT NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: the port that the listener had last. It is taken again where the setting leaves it open, so that the
-- addresses that peers remember stay good.
CREATE TABLE listener (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  port INTEGER NOT NULL
) STRICT;

-- Since when this device sees another one as a member: `write` is what its entry says of its letting in, to be
-- compared and never read, so that letting in again is news again; empty where it says nothing. What its writer
-- says of the time may be any; a device that was away hears of it late. `heard_ms` is 0 for those that were found
-- while joining. One that is no member has no row. The row of this device itself (`write` empty) is when it joined.
CREATE TABLE let_in (
  device BLOB PRIMARY KEY,
  write BLOB NOT NULL,
  heard_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
