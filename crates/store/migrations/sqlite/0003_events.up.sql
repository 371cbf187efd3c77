-- The event streams: an ordered, gapless log for the organisation and one for each user, and who
-- follows them now.

-- One row: tells the numbers of this database from those of a copy of it.
CREATE TABLE event_epoch (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  epoch TEXT NOT NULL
) STRICT;

-- The counter of each stream. Events up to floor_seq are gone, or are about to go.
CREATE TABLE event_streams (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  floor_seq INTEGER NOT NULL,
  CHECK (floor_seq >= 0 AND floor_seq <= last_seq)
) STRICT;
CREATE UNIQUE INDEX event_streams_by_name ON event_streams (name);
INSERT INTO event_streams (name, last_seq, floor_seq) VALUES ('org', 0, 0);

CREATE TABLE events (
  stream INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;

-- Live connections, and those that a newer one has superseded: the larger number is the newer.
CREATE TABLE event_connections (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  instance TEXT NOT NULL,
  superseded_at INTEGER
) STRICT;
CREATE UNIQUE INDEX event_connections_by_owner ON event_connections (owner, id);
CREATE INDEX event_connections_by_instance ON event_connections (instance);
CREATE INDEX event_connections_by_end ON event_connections (superseded_at)
  WHERE superseded_at IS NOT NULL;

-- The instances that hold connections: what a dead one held is removed.
CREATE TABLE event_instances (
  id TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
) STRICT;
