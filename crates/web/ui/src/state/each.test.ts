import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readTimeline } from '../lib/api/dependencies';
import { GATHER_MS, RETRY_MS } from './calmly';
import { openPage, openServer } from './fakes';

vi.mock('./stream.svelte', () => import('./fakes'));
const { Each } = await import('./each.svelte');

let asked: ReturnType<typeof openServer>;
beforeEach(() => {
  openPage();
  asked = openServer();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('knows which of them could not be read, and asks for it again', async () => {
  const each = new Each('service', readTimeline);
  const stop = each.run();
  each.want(['a', 'b'], '24h');
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  const ofA = asked.find(({ path }) => path.includes('/a/'));
  const ofB = asked.find(({ path }) => path.includes('/b/'));
  await ofA?.refuse();
  await ofB?.answer({ from: '', to: '', transitions: [], initial: 'healthy' });
  expect([each.failures['a']?.title, each.failures['b'], each.held['a']]).toEqual(['not now', undefined, undefined]);
  expect(each.held['b']).toBeDefined();
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect(asked.map(({ path }) => path.includes('/a/'))).toEqual([true, false, true]);
  await asked[2]?.answer({ from: '', to: '', transitions: [], initial: 'healthy' });
  expect([each.failure, each.held['a']]).toEqual([null, { from: '', to: '', transitions: [], initial: 'healthy' }]);
  stop();
});
