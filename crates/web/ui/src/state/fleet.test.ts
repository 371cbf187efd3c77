import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { net, worker } from '../lib/fleet/sample';
import { GATHER_MS } from './calmly';
import { happen, openPage, openServer } from './fakes';

vi.mock('./stream.svelte', () => import('./fakes'));
const { fleet } = await import('./fleet.svelte');

let asked: ReturnType<typeof openServer>;
let stop: () => void = () => undefined;
beforeEach(async () => {
  openPage();
  asked = openServer();
  stop = fleet.use();
  await asked[0]?.answer({ items: [worker('w1')], next_cursor: null });
  await asked[1]?.answer({ items: [net('n1')], next_cursor: null });
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The tests share one fleet: what is known of an earlier one is older. */
let generation = 2;
const moves = () => {
  generation += 1;
  happen('net_state_changed', { net_id: 'n1', worker_id: 'w1', load_state: 'unloaded', generation });
};

it('reads again what an event tells of', async () => {
  moves();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(asked.at(-1)?.path).toBe('/api/nets/n1');
  await asked.at(-1)?.answer(net('n1', { load_state: 'unloaded', generation, reason: 'it was moved' }));
  expect(fleet.net('n1')?.reason).toBe('it was moved');
});

it('does not ask how something is while it is being removed', async () => {
  const before = asked.length;
  let removed: () => void = () => undefined;
  const removing = fleet.removing('n1', () => new Promise<void>((resolve) => { removed = resolve; }));
  moves();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(asked).toHaveLength(before);
  removed();
  await removing;
  moves();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.slice(before).map(({ path }) => path)).toEqual(['/api/nets/n1']);
});

it('does not bring back what was removed while it was read', async () => {
  const reading = [fleet.readNet('n1'), fleet.readWorker('w1')];
  const [ofNet, ofWorker] = asked.slice(-2);
  fleet.dropNet('n1');
  happen('worker_removed', { worker_id: 'w1' });
  await ofNet?.answer(net('n1'));
  await ofWorker?.answer(worker('w1'));
  await Promise.all(reading);
  expect(fleet.net('n1')).toBeUndefined();
  expect(fleet.worker('w1')).toBeUndefined();
});
