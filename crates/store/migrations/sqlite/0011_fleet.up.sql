-- The fleet: machines that run the agent, and the nets that are loaded on them.

-- `machine` is what the provider knows the machine by; `generation` counts the announced states.
CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  provider TEXT NOT NULL CHECK (provider IN ('process', 'fly', 'sprite')),
  category TEXT NOT NULL CHECK (category IN ('persistent', 'ephemeral')),
  region TEXT,
  size TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'provisioning', 'ready', 'stopped', 'error')),
  status_since INTEGER NOT NULL,
  reason TEXT,
  generation INTEGER NOT NULL CHECK (generation > 0),
  operation TEXT CHECK (operation IN
    ('provision', 'retry', 'start', 'stop', 'destroy', 'delete', 'health_check')),
  operation_id TEXT,
  operation_since INTEGER,
  operation_deadline INTEGER,
  ended_operation TEXT,
  ended_id TEXT,
  ended_at INTEGER,
  ended_code TEXT,
  ended_detail TEXT,
  machine TEXT,
  machine_generation INTEGER,
  boot_id TEXT,
  provider_state TEXT,
  last_seen_at INTEGER,
  probe_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, name),
  UNIQUE (user_id, id),
  UNIQUE (id, status),
  CHECK ((operation IS NULL) = (operation_id IS NULL)),
  CHECK ((operation IS NULL) = (operation_since IS NULL)),
  CHECK ((operation IS NULL) = (operation_deadline IS NULL)),
  CHECK ((ended_operation IS NULL) = (ended_id IS NULL)),
  CHECK ((ended_operation IS NULL) = (ended_at IS NULL)),
  -- A machine is being made only for as long as somebody makes it.
  CHECK (status <> 'provisioning' OR operation IS NOT NULL),
  CHECK (status <> 'stopped' OR category = 'persistent')
) STRICT;
-- A user's list, newest first.
CREATE INDEX workers_by_owner ON workers (user_id, created_at DESC, id DESC);
-- Whom the health loop asks next.
CREATE INDEX workers_to_probe ON workers (probe_at) WHERE status = 'ready' AND operation IS NULL;
CREATE INDEX workers_in_operation ON workers (operation_deadline) WHERE operation IS NOT NULL;

-- `needs_status` makes the rule that a loaded net has a ready worker a foreign key. It is looked at with
-- the commit, so that a worker and its nets may change in any order.
CREATE TABLE nets (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  definition TEXT NOT NULL,
  worker_id TEXT,
  load_state TEXT NOT NULL CHECK (load_state IN ('unloaded', 'loaded', 'error')),
  load_state_since INTEGER NOT NULL,
  reason TEXT,
  generation INTEGER NOT NULL CHECK (generation > 0),
  cast_generation INTEGER,
  operation TEXT CHECK (operation IN ('load', 'unload')),
  operation_id TEXT,
  operation_since INTEGER,
  operation_deadline INTEGER,
  ended_operation TEXT,
  ended_id TEXT,
  ended_at INTEGER,
  ended_code TEXT,
  ended_detail TEXT,
  needs_status TEXT GENERATED ALWAYS AS (CASE WHEN load_state = 'loaded' THEN 'ready' END) STORED,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, name),
  CHECK ((operation IS NULL) = (operation_id IS NULL)),
  CHECK ((operation IS NULL) = (operation_since IS NULL)),
  CHECK ((operation IS NULL) = (operation_deadline IS NULL)),
  CHECK ((ended_operation IS NULL) = (ended_id IS NULL)),
  CHECK ((ended_operation IS NULL) = (ended_at IS NULL)),
  CHECK (worker_id IS NOT NULL OR (load_state = 'unloaded' AND operation IS NULL)),
  FOREIGN KEY (user_id, worker_id) REFERENCES workers (user_id, id) DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (worker_id, needs_status) REFERENCES workers (id, status)
    DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX nets_by_owner ON nets (user_id, created_at DESC, id DESC);
CREATE INDEX nets_by_worker ON nets (worker_id, needs_status) WHERE worker_id IS NOT NULL;
CREATE INDEX nets_in_operation ON nets (operation_deadline) WHERE operation IS NOT NULL;
