DROP TABLE graph_dismissals;
DROP TABLE graph_drawing;
