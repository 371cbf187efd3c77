-- Orders of machines whose end nobody knows: a machine may have been made that no worker has. Each is looked
-- for until it was seen and ended, or looked for long enough. The worker may be deleted meanwhile.
CREATE TABLE machine_orders (
  -- What its machine is called.
  name TEXT COLLATE "C" PRIMARY KEY,
  provider TEXT COLLATE "C" NOT NULL,
  worker_id TEXT COLLATE "C" NOT NULL,
  -- Since when it is looked for.
  since BIGINT NOT NULL,
  look_at BIGINT NOT NULL,
  -- How often a list was read in which it was not.
  looks BIGINT NOT NULL CHECK (looks >= 0)
);
CREATE INDEX machine_orders_to_look_for ON machine_orders (look_at);
CREATE INDEX machine_orders_of_worker ON machine_orders (worker_id);
