-- Several instances share the polling: who runs, and who polls which part of all hosts. On SQLite there
-- is one instance, which owns everything; see the same file for PostgreSQL.
CREATE TABLE instances (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL,
  -- NULL for ever, where only one instance can have the database.
  expires_at INTEGER,
  services INTEGER NOT NULL,
  lag_ms INTEGER NOT NULL,
  gone_at INTEGER,
  gone_why TEXT CHECK (gone_why IN ('stopped', 'lost')),
  CHECK ((gone_at IS NULL) = (gone_why IS NULL))
) STRICT;

CREATE TABLE poll_shards (
  shard INTEGER PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
  owner TEXT,
  generation INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
INSERT INTO poll_shards (shard, owner, generation, changed_at)
  WITH RECURSIVE all_shards (shard) AS (
    SELECT 0 UNION ALL SELECT shard + 1 FROM all_shards WHERE shard < 63
  )
  SELECT shard, NULL, 0, 0 FROM all_shards;

CREATE TABLE poll_requests (
  id TEXT PRIMARY KEY,
  service_no INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  claimed_by TEXT,
  answer TEXT
) STRICT;
CREATE INDEX poll_requests_by_time ON poll_requests (asked_at);
