-- Who may do what. Every secret (session, API token, invite, first-account link) is here only as the
-- HMAC of it under the pepper, and every address or e-mail that is only counted, too.

-- One row: tells a pepper from another without giving it away.
CREATE TABLE pepper_check (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  check_hash TEXT NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_login_at INTEGER
) STRICT;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  address TEXT,
  user_agent TEXT
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'agent')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX api_tokens_by_user ON api_tokens (user_id, id);
CREATE INDEX api_tokens_by_expiry ON api_tokens (expires_at);

-- Links to the first account; all of them go when it is made.
CREATE TABLE setup_links (
  token_hash TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE access_requests (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  name TEXT,
  company TEXT,
  note TEXT,
  status TEXT NOT NULL CHECK (status IN ('new', 'contacted', 'approved', 'rejected')),
  created_at INTEGER NOT NULL,
  handled_by TEXT REFERENCES users (id) ON DELETE SET NULL,
  handled_at INTEGER
) STRICT;
CREATE INDEX access_requests_by_email ON access_requests (email, created_at);
CREATE INDEX access_requests_by_status ON access_requests (status, id);

CREATE TABLE invites (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  access_request_id TEXT REFERENCES access_requests (id) ON DELETE SET NULL,
  created_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX invites_by_email ON invites (email);
CREATE INDEX invites_by_expiry ON invites (expires_at);

-- Counts within fixed spans of time: attempts to sign in, requests for access, used forms.
CREATE TABLE rate_limit_buckets (
  scope TEXT NOT NULL,
  subject_hash TEXT NOT NULL,
  bucket_start INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (scope, subject_hash, bucket_start)
) STRICT;
CREATE INDEX rate_limit_buckets_by_start ON rate_limit_buckets (bucket_start);

-- Who did what to which thing. It outlives what it tells of, so nothing here refers to another table.
CREATE TABLE audit_log (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'token', 'cli', 'public')),
  actor_id TEXT,
  actor_email TEXT,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT,
  detail TEXT NOT NULL,
  address TEXT,
  request_id TEXT
) STRICT;
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE INDEX audit_log_by_actor ON audit_log (actor_email, id);
CREATE INDEX audit_log_by_target ON audit_log (target_id, id);
