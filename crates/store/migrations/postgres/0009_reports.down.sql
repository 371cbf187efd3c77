DROP TABLE file_shares;
DROP TABLE files;
