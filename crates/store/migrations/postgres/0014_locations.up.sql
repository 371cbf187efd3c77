-- What nets found from where they are loaded: the worker is the location.

-- Up to where the findings of a net are recorded: of which run of its agent, and which number.
CREATE TABLE net_cursors (
  net_id TEXT COLLATE "C" PRIMARY KEY REFERENCES nets (id) ON DELETE CASCADE,
  boot_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL CHECK (seq >= 0)
);

-- How each check of a net is, seen from its worker. `about` are the names of the services that it is
-- about, as they are compared, each between two line feeds.
CREATE TABLE locations (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  net_id TEXT COLLATE "C" NOT NULL REFERENCES nets (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('service', 'journey')),
  name TEXT COLLATE "C" NOT NULL,
  name_key TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C",
  about TEXT COLLATE "C" NOT NULL,
  every_ms BIGINT NOT NULL CHECK (every_ms > 0),
  worker_id TEXT COLLATE "C" NOT NULL,
  region TEXT COLLATE "C",
  generation BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('unknown', 'healthy', 'degraded', 'down')),
  status_since BIGINT NOT NULL,
  checked_at BIGINT,
  latency_us BIGINT,
  error TEXT COLLATE "C",
  -- How many findings were recorded.
  findings BIGINT NOT NULL,
  UNIQUE (net_id, kind, name_key)
);
CREATE INDEX locations_by_name ON locations (user_id, name_key);
CREATE INDEX locations_by_url ON locations (user_id, url) WHERE url IS NOT NULL;
CREATE INDEX locations_of_journeys ON locations (user_id) WHERE kind = 'journey';

-- Every time a check turned out otherwise than before.
CREATE TABLE location_changes (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  location_no BIGINT NOT NULL REFERENCES locations (number) ON DELETE CASCADE,
  at BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('healthy', 'degraded', 'down')),
  error TEXT COLLATE "C"
);
CREATE INDEX location_changes_by_location ON location_changes (location_no, at, number);
CREATE INDEX location_changes_by_time ON location_changes (at);
