-- The past: whole states of everything, from which the changes since lead to any moment.

-- How a service was over a span of time, however much else changed.
CREATE INDEX changes_by_service_status ON changes (service_no, at) WHERE kind = 'service';

-- The state of everything at a moment. Changes up to `from_number` are all in it, those up to
-- `upto_number` may be: they are told again. What begins as a mark becomes whole some minutes later,
-- when whoever took a lower number has committed or never will.
CREATE TABLE past_keyframes (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  marked_at BIGINT NOT NULL,
  from_number BIGINT NOT NULL,
  -- When the first change was made, if this is the first keyframe: until then nothing is missing.
  began_at BIGINT,
  -- When somebody began to write its parts: who has not ended long after that never will.
  begun_at BIGINT,
  -- NULL until it is whole.
  at BIGINT,
  upto_number BIGINT,
  -- How many parts it has.
  parts BIGINT,
  CHECK ((at IS NULL) = (upto_number IS NULL) AND (at IS NULL) = (parts IS NULL))
);
CREATE INDEX past_keyframes_by_time ON past_keyframes (at);

-- A keyframe in portions, packed.
CREATE TABLE past_keyframe_parts (
  keyframe_no BIGINT NOT NULL REFERENCES past_keyframes (number),
  part BIGINT NOT NULL,
  body BYTEA NOT NULL,
  PRIMARY KEY (keyframe_no, part)
);

-- What was not written down so far: names that held from the first day, and dependencies that were
-- closed because they had been missing for long.
INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
  SELECT d.first_seen_at, 'alias', d.service_no, d.number, d.name, d.canonical_name
  FROM dependencies AS d
  WHERE d.canonical_name <> d.name
    AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.dependency_no = d.number AND c.kind = 'alias')
  ORDER BY d.number;
INSERT INTO changes (at, kind, service_no, dependency_no, before, after)
  SELECT d.removed_at, 'removed', d.service_no, d.number, d.name, NULL
  FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
  WHERE d.removed_at IS NOT NULL AND s.removed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.dependency_no = d.number AND c.kind = 'removed'
      AND c.at = d.removed_at)
  ORDER BY d.number;
