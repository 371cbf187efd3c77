-- What nets found from where they are loaded: the worker is the location.

-- Up to where the findings of a net are recorded: of which run of its agent, and which number.
CREATE TABLE net_cursors (
  net_id TEXT PRIMARY KEY REFERENCES nets (id) ON DELETE CASCADE,
  boot_id TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 0)
) STRICT;

-- How each check of a net is, seen from its worker. `about` are the names of the services that it is
-- about, as they are compared, each between two line feeds.
CREATE TABLE locations (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  net_id TEXT NOT NULL REFERENCES nets (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('service', 'journey')),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  url TEXT,
  about TEXT NOT NULL,
  every_ms INTEGER NOT NULL CHECK (every_ms > 0),
  worker_id TEXT NOT NULL,
  region TEXT,
  generation INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('unknown', 'healthy', 'degraded', 'down')),
  status_since INTEGER NOT NULL,
  checked_at INTEGER,
  latency_us INTEGER,
  error TEXT,
  -- How many findings were recorded.
  findings INTEGER NOT NULL,
  UNIQUE (net_id, kind, name_key)
) STRICT;
CREATE INDEX locations_by_name ON locations (user_id, name_key);
CREATE INDEX locations_by_url ON locations (user_id, url) WHERE url IS NOT NULL;
CREATE INDEX locations_of_journeys ON locations (user_id) WHERE kind = 'journey';

-- Every time a check turned out otherwise than before.
CREATE TABLE location_changes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  location_no INTEGER NOT NULL REFERENCES locations (number) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('healthy', 'degraded', 'down')),
  error TEXT
) STRICT;
CREATE INDEX location_changes_by_location ON location_changes (location_no, at, number);
CREATE INDEX location_changes_by_time ON location_changes (at);
