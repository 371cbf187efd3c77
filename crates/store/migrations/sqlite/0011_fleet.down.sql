DROP TABLE nets;
DROP TABLE workers;
