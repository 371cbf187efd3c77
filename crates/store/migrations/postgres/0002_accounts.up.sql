-- Who may do what. Every secret (session, API token, invite, first-account link) is here only as the
-- HMAC of it under the pepper, and every address or e-mail that is only counted, too.

-- One row: tells a pepper from another without giving it away.
CREATE TABLE pepper_check (
  singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
  check_hash TEXT COLLATE "C" NOT NULL
);

CREATE TABLE users (
  id TEXT COLLATE "C" PRIMARY KEY,
  email TEXT COLLATE "C" NOT NULL UNIQUE,
  role TEXT COLLATE "C" NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'disabled')),
  password_hash TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  last_login_at BIGINT
);

CREATE TABLE sessions (
  id TEXT COLLATE "C" PRIMARY KEY,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  address TEXT COLLATE "C",
  user_agent TEXT COLLATE "C"
);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE api_tokens (
  id TEXT COLLATE "C" PRIMARY KEY,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  prefix TEXT COLLATE "C" NOT NULL,
  scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('read', 'write', 'agent')),
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT
);
CREATE INDEX api_tokens_by_user ON api_tokens (user_id, id);
CREATE INDEX api_tokens_by_expiry ON api_tokens (expires_at);

-- Links to the first account; all of them go when it is made.
CREATE TABLE setup_links (
  token_hash TEXT COLLATE "C" PRIMARY KEY,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE TABLE access_requests (
  id TEXT COLLATE "C" PRIMARY KEY,
  email TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C",
  company TEXT COLLATE "C",
  note TEXT COLLATE "C",
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('new', 'contacted', 'approved', 'rejected')),
  created_at BIGINT NOT NULL,
  handled_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
  handled_at BIGINT
);
CREATE INDEX access_requests_by_email ON access_requests (email, created_at);
CREATE INDEX access_requests_by_status ON access_requests (status, id);

CREATE TABLE invites (
  id TEXT COLLATE "C" PRIMARY KEY,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  email TEXT COLLATE "C" NOT NULL,
  role TEXT COLLATE "C" NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  access_request_id TEXT COLLATE "C" REFERENCES access_requests (id) ON DELETE SET NULL,
  created_by TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  accepted_at BIGINT,
  revoked_at BIGINT
);
CREATE INDEX invites_by_email ON invites (email);
CREATE INDEX invites_by_expiry ON invites (expires_at);

-- Counts within fixed spans of time: attempts to sign in, requests for access, used forms.
CREATE TABLE rate_limit_buckets (
  scope TEXT COLLATE "C" NOT NULL,
  subject_hash TEXT COLLATE "C" NOT NULL,
  bucket_start BIGINT NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (scope, subject_hash, bucket_start)
);
CREATE INDEX rate_limit_buckets_by_start ON rate_limit_buckets (bucket_start);

-- The last minute of requests of a user on a limited route, shared by all instances. What it holds
-- is worth a minute, so a crash may empty it.
CREATE UNLOGGED TABLE request_windows (
  subject TEXT COLLATE "C" NOT NULL,
  route TEXT COLLATE "C" NOT NULL,
  stamps BIGINT[] NOT NULL,
  admitted BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  PRIMARY KEY (subject, route)
);
CREATE INDEX request_windows_by_touch ON request_windows (touched_at);

-- Who did what to which thing. It outlives what it tells of, so nothing here refers to another table.
CREATE TABLE audit_log (
  id TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL,
  actor_kind TEXT COLLATE "C" NOT NULL CHECK (actor_kind IN ('user', 'token', 'cli', 'public')),
  actor_id TEXT COLLATE "C",
  actor_email TEXT COLLATE "C",
  action TEXT COLLATE "C" NOT NULL,
  target_kind TEXT COLLATE "C" NOT NULL,
  target_id TEXT COLLATE "C",
  detail TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C",
  request_id TEXT COLLATE "C"
);
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE INDEX audit_log_by_actor ON audit_log (actor_email, id);
CREATE INDEX audit_log_by_target ON audit_log (target_id, id);
