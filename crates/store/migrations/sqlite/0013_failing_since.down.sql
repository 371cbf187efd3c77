ALTER TABLE dependencies DROP COLUMN failing_since;
ALTER TABLE service_states DROP COLUMN failing_since;
