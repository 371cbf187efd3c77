DROP TABLE event_instances;
DROP TABLE event_connections;
DROP TABLE events;
DROP TABLE event_streams;
DROP TABLE event_epoch;
