-- The event streams: an ordered, gapless log for the organisation and one for each user, and who
-- follows them now.

-- One row: tells the numbers of this database from those of a copy of it.
CREATE TABLE event_epoch (
  singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
  epoch TEXT COLLATE "C" NOT NULL
);

-- The counter of each stream. Events up to floor_seq are gone, or are about to go. The pages keep
-- room for new versions of a counter, so that taking a number touches no index.
CREATE TABLE event_streams (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  last_seq BIGINT NOT NULL,
  floor_seq BIGINT NOT NULL,
  CHECK (floor_seq >= 0 AND floor_seq <= last_seq)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX event_streams_by_name ON event_streams (name);
INSERT INTO event_streams (name, last_seq, floor_seq) VALUES ('org', 0, 0);

CREATE TABLE events (
  stream BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  size BIGINT NOT NULL,
  payload TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (stream, seq)
);

-- Live connections, and those that a newer one has superseded: the larger number is the newer.
CREATE TABLE event_connections (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  instance TEXT COLLATE "C" NOT NULL,
  superseded_at BIGINT
);
CREATE UNIQUE INDEX event_connections_by_owner ON event_connections (owner, id);
CREATE INDEX event_connections_by_instance ON event_connections (instance);
CREATE INDEX event_connections_by_end ON event_connections (superseded_at)
  WHERE superseded_at IS NOT NULL;

-- The instances that hold connections: what a dead one held is removed.
CREATE TABLE event_instances (
  id TEXT COLLATE "C" PRIMARY KEY,
  seen_at BIGINT NOT NULL
);
