-- Files that were deleted here: what the storage still has of them may be removed. Of a file that stands
-- neither here nor in files nobody knows whose it is, and its objects stay.
CREATE TABLE deleted_files (
  user_id TEXT NOT NULL,
  file_id TEXT NOT NULL,
  deleted_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, file_id)
) STRICT;
CREATE INDEX deleted_files_by_age ON deleted_files (deleted_at);
