-- Orders of machines whose end nobody knows: a machine may have been made that no worker has. Each is looked
-- for until it was seen and ended, or looked for long enough. The worker may be deleted meanwhile.
CREATE TABLE machine_orders (
  -- What its machine is called.
  name TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  worker_id TEXT NOT NULL,
  -- Since when it is looked for.
  since INTEGER NOT NULL,
  look_at INTEGER NOT NULL,
  -- How often a list was read in which it was not.
  looks INTEGER NOT NULL CHECK (looks >= 0)
) STRICT;
CREATE INDEX machine_orders_to_look_for ON machine_orders (look_at);
CREATE INDEX machine_orders_of_worker ON machine_orders (worker_id);
