DROP TABLE location_changes;
DROP TABLE locations;
DROP TABLE net_cursors;
