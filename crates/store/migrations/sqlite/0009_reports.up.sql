-- Transcripts that people uploaded, what became of each, and who else may read its report. The texts
-- themselves are objects of the storage; here are only their keys.

CREATE TABLE files (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  original_name TEXT NOT NULL,
  extension TEXT NOT NULL CHECK (extension IN ('txt', 'vtt')),
  -- NULL until the original is stored as a whole.
  size_bytes INTEGER,
  status TEXT NOT NULL CHECK (status IN ('processing', 'queued', 'succeeded', 'failed')),
  -- NULL while it is uploaded, and for good when that failed.
  job_id TEXT,
  storage_key_original TEXT NOT NULL,
  storage_key_report TEXT,
  storage_key_timeline TEXT,
  storage_key_raw_llm_output TEXT,
  prompt_version TEXT,
  schema_version TEXT,
  llm_model TEXT,
  -- The time of the incident, where somebody said it.
  window_from INTEGER,
  window_to INTEGER,
  processing_attempts INTEGER NOT NULL CHECK (processing_attempts >= 0),
  -- When its job is due; NULL when it is not queued.
  next_run_at INTEGER,
  error_code TEXT,
  error_message TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  queued_at INTEGER,
  started_at INTEGER,
  processed_at INTEGER,
  PRIMARY KEY (user_id, id),
  CHECK (status NOT IN ('queued', 'succeeded') OR job_id IS NOT NULL),
  CHECK ((window_from IS NULL) = (window_to IS NULL))
) STRICT;
-- A user's list, newest first.
CREATE INDEX files_by_owner ON files (user_id, created_at DESC, id DESC);
-- Uploads that somebody must end when their server died.
CREATE INDEX files_in_upload ON files (created_at) WHERE status = 'processing' AND job_id IS NULL;

-- Links to a report. The token is here only as its HMAC under the pepper.
CREATE TABLE file_shares (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  file_id TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  FOREIGN KEY (user_id, file_id) REFERENCES files (user_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX file_shares_by_file ON file_shares (user_id, file_id, id);
CREATE INDEX file_shares_by_expiry ON file_shares (expires_at);
