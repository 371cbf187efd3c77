import type { ShownNet, ShownWorker } from './reduce';

/** A worker for tests. */
export function worker(id: string, more: Partial<ShownWorker> = {}): ShownWorker {
  return {
    id,
    name: id,
    provider: 'fly',
    category: 'persistent',
    region: 'fra',
    machine_region: null,
    size: 'small',
    status: 'ready',
    status_since: '2026-11-17T03:00:00.000Z',
    reason: null,
    generation: 4,
    operation: null,
    last_operation: null,
    provider_state: 'started',
    last_seen_at: '2026-11-17T03:06:00.000Z',
    url: 'http://127.31.0.1:7374',
    created_at: '2026-11-01T00:00:00.000Z',
    nets: [],
    ...more,
  };
}

/** A net for tests. */
export function net(id: string, more: Partial<ShownNet> = {}): ShownNet {
  return {
    id,
    name: id,
    definition: { services: [{ name: 'shop', url: 'https://shop.example.org' }] },
    worker_id: 'w1',
    load_state: 'loaded',
    load_state_since: '2026-11-17T03:00:00.000Z',
    reason: null,
    generation: 2,
    operation: null,
    last_operation: null,
    created_at: '2026-11-01T00:00:00.000Z',
    ...more,
  };
}
