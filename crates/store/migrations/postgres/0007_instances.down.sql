DROP TABLE poll_requests;
DROP TABLE poll_shards;
DROP TABLE instances;
