-- Background work: the queue, what has left it, what is paused, and what comes again by the clock.

-- `claim_at` is when a row may be claimed: its due time when queued, the end of its lease when
-- processing, NULL when finished. So one partial index finds both what is due and what a dead runner
-- left behind. `started` is in no index: setting it touches none. Pages keep room for that.
CREATE TABLE jobs (
  key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('queued', 'processing', 'succeeded', 'failed')),
  priority BIGINT NOT NULL,
  payload TEXT COLLATE "C" NOT NULL,
  attempts BIGINT NOT NULL CHECK (attempts >= 0),
  max_attempts BIGINT NOT NULL CHECK (max_attempts > 0),
  crashes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  next_run_at BIGINT NOT NULL,
  claim_at BIGINT,
  lease_token BIGINT,
  locked_at BIGINT,
  locked_by TEXT COLLATE "C",
  heartbeat_at BIGINT,
  lock_ttl_seconds BIGINT,
  started BIGINT NOT NULL,
  last_error_code TEXT COLLATE "C",
  last_error_message TEXT COLLATE "C",
  finished_at BIGINT,
  traceparent TEXT COLLATE "C",
  CHECK ((claim_at IS NULL) = (status IN ('succeeded', 'failed'))),
  CHECK ((finished_at IS NULL) = (claim_at IS NOT NULL)),
  CHECK (status = 'processing' OR (lease_token IS NULL AND locked_at IS NULL AND locked_by IS NULL
    AND heartbeat_at IS NULL AND lock_ttl_seconds IS NULL AND started = 0)),
  CHECK (status <> 'processing' OR (lease_token IS NOT NULL AND locked_at IS NOT NULL
    AND locked_by IS NOT NULL AND heartbeat_at IS NOT NULL AND lock_ttl_seconds IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
CREATE INDEX jobs_claim ON jobs (kind, priority, claim_at) WHERE claim_at IS NOT NULL;
CREATE INDEX jobs_by_status ON jobs (status, id, kind);
CREATE UNIQUE INDEX jobs_unfinished ON jobs (kind, subject)
  WHERE claim_at IS NOT NULL AND subject IS NOT NULL;

-- Finished rows that have left the queue by age.
CREATE TABLE finished_jobs (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('succeeded', 'failed')),
  priority BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  max_attempts BIGINT NOT NULL,
  crashes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  next_run_at BIGINT NOT NULL,
  last_error_code TEXT COLLATE "C",
  last_error_message TEXT COLLATE "C",
  finished_at BIGINT NOT NULL,
  traceparent TEXT COLLATE "C"
);
CREATE INDEX finished_jobs_by_status ON finished_jobs (status, id, kind);

-- What is said of a kind as a whole; a kind without a row has no limit and runs.
CREATE TABLE job_kinds (
  kind TEXT COLLATE "C" PRIMARY KEY,
  paused_at BIGINT,
  concurrency BIGINT
);

-- Jobs that come again by the clock. `next_at` decides who fires: whoever moves it.
CREATE TABLE job_schedules (
  name TEXT COLLATE "C" PRIMARY KEY,
  expression TEXT COLLATE "C" NOT NULL,
  next_at BIGINT NOT NULL,
  fired_at BIGINT
);
