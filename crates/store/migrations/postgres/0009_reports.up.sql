-- Transcripts that people uploaded, what became of each, and who else may read its report. The texts
-- themselves are objects of the storage; here are only their keys.

CREATE TABLE files (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  original_name TEXT COLLATE "C" NOT NULL,
  extension TEXT COLLATE "C" NOT NULL CHECK (extension IN ('txt', 'vtt')),
  -- NULL until the original is stored as a whole.
  size_bytes BIGINT,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('processing', 'queued', 'succeeded', 'failed')),
  -- NULL while it is uploaded, and for good when that failed.
  job_id TEXT COLLATE "C",
  storage_key_original TEXT COLLATE "C" NOT NULL,
  storage_key_report TEXT COLLATE "C",
  storage_key_timeline TEXT COLLATE "C",
  storage_key_raw_llm_output TEXT COLLATE "C",
  prompt_version TEXT COLLATE "C",
  schema_version TEXT COLLATE "C",
  llm_model TEXT COLLATE "C",
  -- The time of the incident, where somebody said it.
  window_from BIGINT,
  window_to BIGINT,
  processing_attempts BIGINT NOT NULL CHECK (processing_attempts >= 0),
  -- When its job is due; NULL when it is not queued.
  next_run_at BIGINT,
  error_code TEXT COLLATE "C",
  error_message TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  queued_at BIGINT,
  started_at BIGINT,
  processed_at BIGINT,
  PRIMARY KEY (user_id, id),
  CHECK (status NOT IN ('queued', 'succeeded') OR job_id IS NOT NULL),
  CHECK ((window_from IS NULL) = (window_to IS NULL))
);
-- A user's list, newest first.
CREATE INDEX files_by_owner ON files (user_id, created_at DESC, id DESC);
-- Uploads that somebody must end when their server died.
CREATE INDEX files_in_upload ON files (created_at) WHERE status = 'processing' AND job_id IS NULL;

-- Links to a report. The token is here only as its HMAC under the pepper.
CREATE TABLE file_shares (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL,
  file_id TEXT COLLATE "C" NOT NULL,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT,
  FOREIGN KEY (user_id, file_id) REFERENCES files (user_id, id) ON DELETE CASCADE
);
CREATE INDEX file_shares_by_file ON file_shares (user_id, file_id, id);
CREATE INDEX file_shares_by_expiry ON file_shares (expires_at);
