-- One row: which installation of Mainstay this database belongs to.
CREATE TABLE installation (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
