DROP TABLE fleet_brake;
ALTER TABLE workers DROP COLUMN ordered_by;
