-- Where the nodes of the graph are drawn: one row, so that a restart and another instance show the
-- same drawing. Whoever writes it names the version that it has read.
CREATE TABLE graph_drawing (
  singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
  version BIGINT NOT NULL,
  -- JSON: the places of services by number and of external things by key.
  body TEXT COLLATE "C" NOT NULL,
  updated_at BIGINT NOT NULL
);

-- An external thing and a service that somebody said are not the same. A removed service leaves its
-- rows behind: they are few, and they have a bound.
CREATE TABLE graph_dismissals (
  canonical_key TEXT COLLATE "C" NOT NULL,
  service_no BIGINT NOT NULL,
  dismissed_at BIGINT NOT NULL,
  PRIMARY KEY (canonical_key, service_no)
);
