-- Several instances share the polling: who runs, and who polls which part of all hosts.

-- One row for each time a `mainstay serve` ran. Whoever has not renewed by `expires_at` (the database's
-- clock) is found dead by the others, which write `gone_at`; it never comes back under the same id.
CREATE TABLE instances (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  version TEXT COLLATE "C" NOT NULL,
  started_at BIGINT NOT NULL,
  renewed_at BIGINT NOT NULL,
  -- NULL for ever, where only one instance can have the database.
  expires_at BIGINT,
  -- What it said of itself when it renewed: how many services it polls, how late the latest is.
  services BIGINT NOT NULL,
  lag_ms BIGINT NOT NULL,
  gone_at BIGINT,
  gone_why TEXT COLLATE "C" CHECK (gone_why IN ('stopped', 'lost')),
  CHECK ((gone_at IS NULL) = (gone_why IS NULL))
) WITH (fillfactor = 50);

-- One row for each shard. The generation counts up with each owner and each release: a result that was
-- polled under an earlier one is not recorded.
CREATE TABLE poll_shards (
  shard BIGINT PRIMARY KEY CHECK (shard BETWEEN 0 AND 63),
  owner TEXT COLLATE "C",
  generation BIGINT NOT NULL,
  changed_at BIGINT NOT NULL
) WITH (fillfactor = 50);
INSERT INTO poll_shards (shard, owner, generation, changed_at)
  SELECT shard, NULL, 0, 0 FROM generate_series(0, 63) AS all_shards (shard);

-- Polls that people asked one instance for and another one makes. The answer is a JSON text.
CREATE TABLE poll_requests (
  id TEXT COLLATE "C" PRIMARY KEY,
  service_no BIGINT NOT NULL,
  asked_at BIGINT NOT NULL,
  claimed_by TEXT COLLATE "C",
  answer TEXT COLLATE "C"
);
CREATE INDEX poll_requests_by_time ON poll_requests (asked_at);
