-- The monitor: what is watched, what is known of it, and what has become of it.

-- One row. Edits take the next number inside their transaction, so that numbers and commits have one
-- order: whoever has seen number n has seen every edit before it.
CREATE TABLE monitor_revision (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  last INTEGER NOT NULL
) STRICT;
INSERT INTO monitor_revision (singleton, last) VALUES (1, 0);

-- What people say of a service. A removed one stays while its history does.
CREATE TABLE services (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The name as it is compared: trimmed, lower case.
  name_key TEXT NOT NULL,
  team TEXT,
  -- The team as it is compared.
  team_key TEXT,
  health_endpoint TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('proactive-deps', 'schema', 'status')),
  schema_config TEXT,
  poll_interval_ms INTEGER NOT NULL CHECK (poll_interval_ms > 0),
  timeout_ms INTEGER NOT NULL CHECK (timeout_ms > 0),
  -- The names, as a JSON array, and the values, sealed.
  header_names TEXT NOT NULL,
  sealed_headers TEXT,
  is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)),
  revision INTEGER NOT NULL,
  -- Counts the changes after which a poll that is under way says nothing of it any more.
  generation INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  removed_at INTEGER,
  CHECK ((format = 'schema') = (schema_config IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX services_by_id ON services (id);
CREATE UNIQUE INDEX services_by_name ON services (name_key) WHERE removed_at IS NULL;
CREATE INDEX services_by_revision ON services (revision);

-- What polling knows of a service: one row for each, written with every poll. `poll_seq` is the number
-- of the last poll that was recorded; `dependency_revision` counts what others change of its dependencies.
CREATE TABLE service_states (
  service_no INTEGER PRIMARY KEY REFERENCES services (number),
  poll_seq INTEGER NOT NULL,
  dependency_revision INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('unknown', 'healthy', 'degraded', 'down')),
  status_since INTEGER NOT NULL,
  last_polled_at INTEGER,
  last_success_at INTEGER,
  last_latency_us INTEGER,
  -- NULL when the last poll succeeded, or there was none.
  error_kind TEXT,
  error_message TEXT,
  -- Since when its dependencies are not known; NULL while they are.
  stale_since INTEGER,
  breaker_state TEXT NOT NULL CHECK (breaker_state IN ('closed', 'open', 'half_open')),
  breaker_failures INTEGER NOT NULL,
  breaker_generation INTEGER NOT NULL,
  breaker_retry_at INTEGER,
  backoff_attempt INTEGER NOT NULL,
  next_poll_at INTEGER,
  -- A JSON array; NULL when there is nothing to warn of.
  poll_warnings TEXT,
  healthy_count INTEGER NOT NULL,
  degraded_count INTEGER NOT NULL,
  down_count INTEGER NOT NULL,
  skipped_count INTEGER NOT NULL
) STRICT;

-- What a service says it leans on, as it was last changed. `slot` is its number among the dependencies
-- of its service, which the latency rows use.
CREATE TABLE dependencies (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  service_no INTEGER NOT NULL REFERENCES services (number),
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  canonical_name TEXT NOT NULL,
  -- The canonical name as it is compared: trimmed, lower case.
  canonical_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  description TEXT,
  impact TEXT,
  contact TEXT,
  check_details TEXT,
  healthy INTEGER NOT NULL CHECK (healthy IN (0, 1)),
  state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
  code INTEGER NOT NULL,
  skipped INTEGER NOT NULL CHECK (skipped IN (0, 1)),
  error TEXT,
  error_message TEXT,
  status TEXT NOT NULL CHECK (status IN ('healthy', 'degraded', 'down', 'skipped')),
  status_since INTEGER NOT NULL,
  last_status_change INTEGER,
  first_seen_at INTEGER NOT NULL,
  missing_since INTEGER,
  linked_service_no INTEGER REFERENCES services (number),
  removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX dependencies_by_id ON dependencies (id);
CREATE UNIQUE INDEX dependencies_by_name ON dependencies (service_no, name);
CREATE INDEX dependencies_by_raw_name ON dependencies (name);
CREATE INDEX dependencies_by_canonical ON dependencies (canonical_key);
CREATE INDEX dependencies_by_link ON dependencies (linked_service_no) WHERE linked_service_no IS NOT NULL;

CREATE TABLE aliases (
  id TEXT PRIMARY KEY,
  alias TEXT NOT NULL,
  canonical_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX aliases_by_alias ON aliases (alias);

-- Everything that changed, once: `service` and `dependency` are statuses, `stale` is a service whose
-- dependencies are not known (after = 'stale') or known again ('fresh').
CREATE TABLE changes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN
    ('service', 'dependency', 'stale', 'missing', 'link', 'alias', 'added', 'removed', 'renamed')),
  service_no INTEGER,
  dependency_no INTEGER,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX changes_by_time ON changes (at);
CREATE INDEX changes_by_service ON changes (service_no, number);
-- When a service was stale is asked for a span of time, however much else changed.
CREATE INDEX changes_by_staleness ON changes (service_no, at) WHERE kind = 'stale';
CREATE INDEX changes_by_dependency ON changes (dependency_no, number) WHERE dependency_no IS NOT NULL;

-- What was wrong with a dependency, when that changed; a recovery has neither.
CREATE TABLE dependency_errors (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  dependency_no INTEGER NOT NULL,
  at INTEGER NOT NULL,
  error TEXT,
  error_message TEXT
) STRICT;
CREATE INDEX dependency_errors_by_dependency ON dependency_errors (dependency_no, number);
CREATE INDEX dependency_errors_by_time ON dependency_errors (at);

-- How polls of a service turned out, when that changed; a recovery has no error.
CREATE TABLE poll_history (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  service_no INTEGER NOT NULL,
  at INTEGER NOT NULL,
  error_kind TEXT,
  error_message TEXT
) STRICT;
CREATE INDEX poll_history_by_service ON poll_history (service_no, number);
CREATE INDEX poll_history_by_time ON poll_history (at);

-- The latencies of one poll, packed. `bucket` is the day since 1970.
CREATE TABLE latency_points (
  bucket INTEGER NOT NULL,
  service_no INTEGER NOT NULL,
  at INTEGER NOT NULL,
  points BLOB NOT NULL,
  PRIMARY KEY (bucket, service_no, at)
) STRICT, WITHOUT ROWID;

-- The latencies of all dependencies of a service over a span of time, packed. `span` is its length in ms.
CREATE TABLE latency_rollups (
  span INTEGER NOT NULL,
  start INTEGER NOT NULL,
  service_no INTEGER NOT NULL,
  summaries BLOB NOT NULL,
  PRIMARY KEY (span, start, service_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX latency_rollups_by_service ON latency_rollups (service_no, span, start);
