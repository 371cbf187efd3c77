-- Which operation has asked the provider for the machine that it makes. Written down before it asks: whoever goes on
-- after a crash knows that there may be one.
ALTER TABLE workers ADD COLUMN ordered_by TEXT COLLATE "C";

-- While most workers fail at once and nothing is done about it: one row, for all instances to read.
CREATE TABLE fleet_brake (
  slot BIGINT PRIMARY KEY CHECK (slot = 1),
  -- Workers that were asked in the last round,
  asked BIGINT NOT NULL,
  -- and that did not answer.
  failed BIGINT NOT NULL,
  since BIGINT NOT NULL,
  -- When a round last found it so: whoever pulled it may have died.
  seen_at BIGINT NOT NULL
);
