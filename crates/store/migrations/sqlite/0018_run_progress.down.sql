ALTER TABLE journey_runs DROP COLUMN progress;
