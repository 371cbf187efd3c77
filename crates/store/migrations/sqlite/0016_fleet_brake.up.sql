-- Which operation has asked the provider for the machine that it makes. Written down before it asks: whoever goes on
-- after a crash knows that there may be one.
ALTER TABLE workers ADD COLUMN ordered_by TEXT;

-- While most workers fail at once and nothing is done about it: one row, for all instances to read.
CREATE TABLE fleet_brake (
  slot INTEGER PRIMARY KEY CHECK (slot = 1),
  -- Workers that were asked in the last round,
  asked INTEGER NOT NULL,
  -- and that did not answer.
  failed INTEGER NOT NULL,
  since INTEGER NOT NULL,
  -- When a round last found it so: whoever pulled it may have died.
  seen_at INTEGER NOT NULL
) STRICT;
