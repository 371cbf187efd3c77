-- The monitor: what is watched, what is known of it, and what has become of it.

-- One row. Edits take the next number inside their transaction, so that numbers and commits have one
-- order: whoever has seen number n has seen every edit before it.
CREATE TABLE monitor_revision (
  singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
  last BIGINT NOT NULL
);
INSERT INTO monitor_revision (singleton, last) VALUES (1, 0);

-- What people say of a service. A removed one stays while its history does.
CREATE TABLE services (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  -- The name as it is compared: trimmed, lower case.
  name_key TEXT COLLATE "C" NOT NULL,
  team TEXT COLLATE "C",
  -- The team as it is compared.
  team_key TEXT COLLATE "C",
  health_endpoint TEXT COLLATE "C" NOT NULL,
  format TEXT COLLATE "C" NOT NULL CHECK (format IN ('proactive-deps', 'schema', 'status')),
  schema_config TEXT COLLATE "C",
  poll_interval_ms BIGINT NOT NULL CHECK (poll_interval_ms > 0),
  timeout_ms BIGINT NOT NULL CHECK (timeout_ms > 0),
  -- The names, as a JSON array, and the values, sealed.
  header_names TEXT COLLATE "C" NOT NULL,
  sealed_headers TEXT COLLATE "C",
  is_active BIGINT NOT NULL CHECK (is_active IN (0, 1)),
  revision BIGINT NOT NULL,
  -- Counts the changes after which a poll that is under way says nothing of it any more.
  generation BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  removed_at BIGINT,
  CHECK ((format = 'schema') = (schema_config IS NOT NULL))
);
CREATE UNIQUE INDEX services_by_id ON services (id);
CREATE UNIQUE INDEX services_by_name ON services (name_key) WHERE removed_at IS NULL;
CREATE INDEX services_by_revision ON services (revision);

-- What polling knows of a service: one row for each, written with every poll. `poll_seq` is the number
-- of the last poll that was recorded; `dependency_revision` counts what others change of its dependencies.
CREATE TABLE service_states (
  service_no BIGINT PRIMARY KEY REFERENCES services (number),
  poll_seq BIGINT NOT NULL,
  dependency_revision BIGINT NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('unknown', 'healthy', 'degraded', 'down')),
  status_since BIGINT NOT NULL,
  last_polled_at BIGINT,
  last_success_at BIGINT,
  last_latency_us BIGINT,
  -- NULL when the last poll succeeded, or there was none.
  error_kind TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  -- Since when its dependencies are not known; NULL while they are.
  stale_since BIGINT,
  breaker_state TEXT COLLATE "C" NOT NULL CHECK (breaker_state IN ('closed', 'open', 'half_open')),
  breaker_failures BIGINT NOT NULL,
  breaker_generation BIGINT NOT NULL,
  breaker_retry_at BIGINT,
  backoff_attempt BIGINT NOT NULL,
  next_poll_at BIGINT,
  -- A JSON array; NULL when there is nothing to warn of.
  poll_warnings TEXT COLLATE "C",
  healthy_count BIGINT NOT NULL,
  degraded_count BIGINT NOT NULL,
  down_count BIGINT NOT NULL,
  skipped_count BIGINT NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

-- What a service says it leans on, as it was last changed. `slot` is its number among the dependencies
-- of its service, which the latency rows use.
CREATE TABLE dependencies (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL,
  service_no BIGINT NOT NULL REFERENCES services (number),
  slot BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  canonical_name TEXT COLLATE "C" NOT NULL,
  -- The canonical name as it is compared: trimmed, lower case.
  canonical_key TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  description TEXT COLLATE "C",
  impact TEXT COLLATE "C",
  contact TEXT COLLATE "C",
  check_details TEXT COLLATE "C",
  healthy BIGINT NOT NULL CHECK (healthy IN (0, 1)),
  state BIGINT NOT NULL CHECK (state IN (0, 1, 2)),
  code BIGINT NOT NULL,
  skipped BIGINT NOT NULL CHECK (skipped IN (0, 1)),
  error TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('healthy', 'degraded', 'down', 'skipped')),
  status_since BIGINT NOT NULL,
  last_status_change BIGINT,
  first_seen_at BIGINT NOT NULL,
  missing_since BIGINT,
  linked_service_no BIGINT REFERENCES services (number),
  removed_at BIGINT
);
CREATE UNIQUE INDEX dependencies_by_id ON dependencies (id);
CREATE UNIQUE INDEX dependencies_by_name ON dependencies (service_no, name);
CREATE INDEX dependencies_by_raw_name ON dependencies (name);
CREATE INDEX dependencies_by_canonical ON dependencies (canonical_key);
CREATE INDEX dependencies_by_link ON dependencies (linked_service_no) WHERE linked_service_no IS NOT NULL;

CREATE TABLE aliases (
  id TEXT COLLATE "C" PRIMARY KEY,
  alias TEXT COLLATE "C" NOT NULL,
  canonical_name TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX aliases_by_alias ON aliases (alias);

-- Everything that changed, once: `service` and `dependency` are statuses, `stale` is a service whose
-- dependencies are not known (after = 'stale') or known again ('fresh').
CREATE TABLE changes (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN
    ('service', 'dependency', 'stale', 'missing', 'link', 'alias', 'added', 'removed', 'renamed')),
  service_no BIGINT,
  dependency_no BIGINT,
  before TEXT COLLATE "C",
  after TEXT COLLATE "C"
);
CREATE INDEX changes_by_time ON changes (at);
CREATE INDEX changes_by_service ON changes (service_no, number);
-- When a service was stale is asked for a span of time, however much else changed.
CREATE INDEX changes_by_staleness ON changes (service_no, at) WHERE kind = 'stale';
CREATE INDEX changes_by_dependency ON changes (dependency_no, number) WHERE dependency_no IS NOT NULL;

-- What was wrong with a dependency, when that changed; a recovery has neither.
CREATE TABLE dependency_errors (
  dependency_no BIGINT NOT NULL,
  number BIGINT GENERATED ALWAYS AS IDENTITY,
  at BIGINT NOT NULL,
  error TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  PRIMARY KEY (dependency_no, number)
);
CREATE INDEX dependency_errors_by_time ON dependency_errors (at);

-- How polls of a service turned out, when that changed; a recovery has no error.
CREATE TABLE poll_history (
  service_no BIGINT NOT NULL,
  number BIGINT GENERATED ALWAYS AS IDENTITY,
  at BIGINT NOT NULL,
  error_kind TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  PRIMARY KEY (service_no, number)
);
CREATE INDEX poll_history_by_time ON poll_history (at);

-- The latencies of one poll, packed. `bucket` is the day since 1970. Its numbers are short: there are
-- more of these rows than of all others together.
CREATE TABLE latency_points (
  bucket INTEGER NOT NULL,
  service_no INTEGER NOT NULL,
  at BIGINT NOT NULL,
  points BYTEA NOT NULL,
  PRIMARY KEY (bucket, service_no, at)
) PARTITION BY RANGE (bucket);
-- Where points go whose day has no partition of its own.
CREATE TABLE latency_points_rest PARTITION OF latency_points DEFAULT;

-- Makes the partition of a day, unless it is there or the day has begun without one: its points then
-- stay where they are. Attaching lets others write meanwhile, CREATE … PARTITION OF does not.
CREATE FUNCTION latency_points_open(day BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass(format('latency_points_%s', day)) IS NOT NULL THEN RETURN; END IF;
  LOCK TABLE latency_points IN SHARE UPDATE EXCLUSIVE MODE;
  IF to_regclass(format('latency_points_%s', day)) IS NOT NULL
    OR EXISTS (SELECT 1 FROM latency_points_rest WHERE bucket = day) THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE latency_points_%s (LIKE latency_points)', day);
  EXECUTE format('ALTER TABLE latency_points ATTACH PARTITION latency_points_%s
    FOR VALUES FROM (%s) TO (%s)', day, day, day + 1);
EXCEPTION
  -- A point of that day came in between, or somebody holds the rest for long.
  WHEN check_violation OR lock_not_available THEN RETURN;
END $$;

-- Drops the partition of a day, if there is one. Whoever reads for long keeps it, not the writers
-- waiting: it is tried again later.
CREATE FUNCTION latency_points_drop(day BIGINT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass(format('latency_points_%s', day)) IS NULL THEN RETURN; END IF;
  EXECUTE format('DROP TABLE IF EXISTS latency_points_%s', day);
EXCEPTION
  WHEN lock_not_available THEN RETURN;
END $$;
ALTER FUNCTION latency_points_open(BIGINT) SET lock_timeout = '200ms';
ALTER FUNCTION latency_points_drop(BIGINT) SET lock_timeout = '200ms';

-- The latencies of all dependencies of a service over a span of time, packed. `span` is its length in ms.
CREATE TABLE latency_rollups (
  span BIGINT NOT NULL,
  start BIGINT NOT NULL,
  service_no BIGINT NOT NULL,
  summaries BYTEA NOT NULL,
  PRIMARY KEY (span, start, service_no)
);
CREATE INDEX latency_rollups_by_service ON latency_rollups (service_no, span, start);
