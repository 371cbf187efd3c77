-- One row: which installation of Mainstay this database belongs to.
CREATE TABLE installation (
  singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
  id TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL
);
