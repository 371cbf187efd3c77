-- Journeys that this installation keeps and runs on their schedule, and what came of each run.

CREATE TABLE journeys (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  -- The name in lower case: no two differ by case alone.
  name_key TEXT COLLATE "C" NOT NULL UNIQUE,
  source TEXT COLLATE "C" NOT NULL,
  -- Counts the edits: a run carries the one that it began with.
  generation BIGINT NOT NULL CHECK (generation >= 1),
  is_enabled BIGINT NOT NULL CHECK (is_enabled IN (0, 1)),
  -- NULL runs only when it is asked to.
  every_ms BIGINT CHECK (every_ms > 0),
  -- The services that it crosses, as a JSON array of names.
  touches TEXT COLLATE "C" NOT NULL,
  -- NULL is on no schedule: switched off, or without an interval.
  next_run_at BIGINT,
  -- How its last judged run ended; NULL before the first.
  outcome TEXT COLLATE "C" CHECK (outcome IN ('passed', 'failed')),
  outcome_since BIGINT,
  -- The run that failed last, and why, while it is failing.
  failed_run_id TEXT COLLATE "C",
  failed_message TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  CHECK ((outcome IS NULL) = (outcome_since IS NULL))
);
CREATE INDEX journeys_by_due ON journeys (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX journeys_failing ON journeys (outcome_since) WHERE outcome = 'failed';

CREATE TABLE journey_runs (
  id TEXT COLLATE "C" PRIMARY KEY,
  journey_id TEXT COLLATE "C" NOT NULL REFERENCES journeys (id) ON DELETE CASCADE,
  -- NULL for one that was skipped.
  job_id TEXT COLLATE "C",
  generation BIGINT NOT NULL,
  triggered_by TEXT COLLATE "C" NOT NULL CHECK (triggered_by IN ('schedule', 'manual')),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('queued', 'running', 'passed', 'failed', 'skipped', 'aborted')),
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  finished_at BIGINT,
  duration_ms DOUBLE PRECISION,
  -- Why it failed, was skipped or was not run.
  message TEXT COLLATE "C",
  -- What came of it, as JSON; NULL when there is nothing, or no more.
  record TEXT COLLATE "C",
  is_shortened BIGINT NOT NULL CHECK (is_shortened IN (0, 1)),
  CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
);
-- Ids grow with time, so this is a journey's list, newest first.
CREATE INDEX journey_runs_by_journey ON journey_runs (journey_id, id DESC);
CREATE INDEX journey_runs_unfinished ON journey_runs (journey_id) WHERE finished_at IS NULL;
