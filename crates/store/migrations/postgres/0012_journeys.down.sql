DROP TABLE journey_runs;
DROP TABLE journeys;
