-- How far a run is, as JSON, while it is under way and has no record.
ALTER TABLE journey_runs ADD COLUMN progress TEXT;
