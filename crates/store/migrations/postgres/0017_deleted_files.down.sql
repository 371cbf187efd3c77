DROP TABLE deleted_files;
