-- Background work: the queue, what has left it, what is paused, and what comes again by the clock.

-- `claim_at` is when a row may be claimed: its due time when queued, the end of its lease when
-- processing, NULL when finished. So one partial index finds both what is due and what a dead runner
-- left behind. `started` is in no index: setting it touches none.
CREATE TABLE jobs (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'succeeded', 'failed')),
  priority INTEGER NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
  crashes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  next_run_at INTEGER NOT NULL,
  claim_at INTEGER,
  lease_token INTEGER,
  locked_at INTEGER,
  locked_by TEXT,
  heartbeat_at INTEGER,
  lock_ttl_seconds INTEGER,
  started INTEGER NOT NULL,
  last_error_code TEXT,
  last_error_message TEXT,
  finished_at INTEGER,
  traceparent TEXT,
  CHECK ((claim_at IS NULL) = (status IN ('succeeded', 'failed'))),
  CHECK ((finished_at IS NULL) = (claim_at IS NOT NULL)),
  CHECK (status = 'processing' OR (lease_token IS NULL AND locked_at IS NULL AND locked_by IS NULL
    AND heartbeat_at IS NULL AND lock_ttl_seconds IS NULL AND started = 0)),
  CHECK (status <> 'processing' OR (lease_token IS NOT NULL AND locked_at IS NOT NULL
    AND locked_by IS NOT NULL AND heartbeat_at IS NOT NULL AND lock_ttl_seconds IS NOT NULL))
) STRICT;
CREATE INDEX jobs_claim ON jobs (kind, priority, claim_at) WHERE claim_at IS NOT NULL;
CREATE INDEX jobs_by_status ON jobs (status, id, kind);
CREATE UNIQUE INDEX jobs_unfinished ON jobs (kind, subject)
  WHERE claim_at IS NOT NULL AND subject IS NOT NULL;

-- Finished rows that have left the queue by age.
CREATE TABLE finished_jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT,
  status TEXT NOT NULL CHECK (status IN ('succeeded', 'failed')),
  priority INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  crashes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  next_run_at INTEGER NOT NULL,
  last_error_code TEXT,
  last_error_message TEXT,
  finished_at INTEGER NOT NULL,
  traceparent TEXT
) STRICT;
CREATE INDEX finished_jobs_by_status ON finished_jobs (status, id, kind);

-- What is said of a kind as a whole; a kind without a row has no limit and runs.
CREATE TABLE job_kinds (
  kind TEXT PRIMARY KEY,
  paused_at INTEGER,
  concurrency INTEGER
) STRICT;

-- Jobs that come again by the clock. `next_at` decides who fires: whoever moves it.
CREATE TABLE job_schedules (
  name TEXT PRIMARY KEY,
  expression TEXT NOT NULL,
  next_at INTEGER NOT NULL,
  fired_at INTEGER
) STRICT;
