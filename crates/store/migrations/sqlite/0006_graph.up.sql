-- Where the nodes of the graph are drawn: one row, so that a restart and another instance show the
-- same drawing. Whoever writes it names the version that it has read.
CREATE TABLE graph_drawing (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  version INTEGER NOT NULL,
  -- JSON: the places of services by number and of external things by key.
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- An external thing and a service that somebody said are not the same. A removed service leaves its
-- rows behind: they are few, and they have a bound.
CREATE TABLE graph_dismissals (
  canonical_key TEXT NOT NULL,
  service_no INTEGER NOT NULL,
  dismissed_at INTEGER NOT NULL,
  PRIMARY KEY (canonical_key, service_no)
) STRICT, WITHOUT ROWID;
