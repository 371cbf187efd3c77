-- Journeys that this installation keeps and runs on their schedule, and what came of each run.

CREATE TABLE journeys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- The name in lower case: no two differ by case alone.
  name_key TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  -- Counts the edits: a run carries the one that it began with.
  generation INTEGER NOT NULL CHECK (generation >= 1),
  is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  -- NULL runs only when it is asked to.
  every_ms INTEGER CHECK (every_ms > 0),
  -- The services that it crosses, as a JSON array of names.
  touches TEXT NOT NULL,
  -- NULL is on no schedule: switched off, or without an interval.
  next_run_at INTEGER,
  -- How its last judged run ended; NULL before the first.
  outcome TEXT CHECK (outcome IN ('passed', 'failed')),
  outcome_since INTEGER,
  -- The run that failed last, and why, while it is failing.
  failed_run_id TEXT,
  failed_message TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((outcome IS NULL) = (outcome_since IS NULL))
) STRICT;
CREATE INDEX journeys_by_due ON journeys (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX journeys_failing ON journeys (outcome_since) WHERE outcome = 'failed';

CREATE TABLE journey_runs (
  id TEXT PRIMARY KEY,
  journey_id TEXT NOT NULL REFERENCES journeys (id) ON DELETE CASCADE,
  -- NULL for one that was skipped.
  job_id TEXT,
  generation INTEGER NOT NULL,
  triggered_by TEXT NOT NULL CHECK (triggered_by IN ('schedule', 'manual')),
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'passed', 'failed', 'skipped', 'aborted')),
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  duration_ms REAL,
  -- Why it failed, was skipped or was not run.
  message TEXT,
  -- What came of it, as JSON; NULL when there is nothing, or no more.
  record TEXT,
  is_shortened INTEGER NOT NULL CHECK (is_shortened IN (0, 1)),
  CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL))
) STRICT;
-- Ids grow with time, so this is a journey's list, newest first.
CREATE INDEX journey_runs_by_journey ON journey_runs (journey_id, id DESC);
CREATE INDEX journey_runs_unfinished ON journey_runs (journey_id) WHERE finished_at IS NULL;
