-- Since when something is degraded or down without a break: it does not begin anew when it gets worse.
ALTER TABLE service_states ADD COLUMN failing_since INTEGER;
ALTER TABLE dependencies ADD COLUMN failing_since INTEGER;

-- What fails already, by what is still recorded of it: since the first change after it last worked.
UPDATE service_states SET failing_since = coalesce(
  (SELECT min(c.at) FROM changes AS c
   WHERE c.service_no = service_states.service_no AND c.kind = 'service'
     AND c.after IN ('degraded', 'down') AND c.number > coalesce(
       (SELECT max(w.number) FROM changes AS w
        WHERE w.service_no = service_states.service_no AND w.kind = 'service'
          AND w.after NOT IN ('degraded', 'down')), 0)),
  status_since)
WHERE status IN ('degraded', 'down');
UPDATE dependencies SET failing_since = coalesce(
  (SELECT min(c.at) FROM changes AS c
   WHERE c.dependency_no = dependencies.number AND c.kind IN ('dependency', 'added')
     AND c.after IN ('degraded', 'down') AND c.number > coalesce(
       (SELECT max(w.number) FROM changes AS w
        WHERE w.dependency_no = dependencies.number AND w.kind IN ('dependency', 'added')
          AND w.after NOT IN ('degraded', 'down')), 0)),
  status_since)
WHERE status IN ('degraded', 'down') AND removed_at IS NULL;
