DROP TABLE job_schedules;
DROP TABLE job_kinds;
DROP TABLE finished_jobs;
DROP TABLE jobs;
