import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { happen, openPage, openServer } from './fakes';

vi.mock('./stream.svelte', () => import('./fakes'));
const { strips } = await import('./strips.svelte');

let asked: ReturnType<typeof openServer>;
let followed: ReturnType<typeof strips.follow>;
beforeEach(() => {
  openPage();
  asked = openServer();
  followed = strips.follow();
});
afterEach(() => {
  followed.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const told = (...ids: string[]) => ({
  from: '2026-01-01T00:00:00.000Z',
  cell_ms: 1,
  hours_from: '2026-01-01T00:00:00.000Z',
  items: ids.map((id) => ({ id, cells: [], p95_ms: [] })),
});

it.each([
  ['was not wanted for a while', async () => { followed.look(['b']); await wait(0); }],
  ['failed', async () => { await asked[1]?.refuse(); }],
])('reads a strip again whose last read %s', async (_, ends) => {
  followed.look(['a']);
  await wait(100);
  await asked[0]?.answer(told('a'));
  happen('service:status', { service_id: 'a' });
  await wait(2_000);
  expect(asked[1]?.path).toContain('ids=a');
  await ends();
  followed.look(['a']);
  await wait(100);
  expect(asked.filter(({ path }) => path.endsWith('ids=a'))).toHaveLength(3);
});
