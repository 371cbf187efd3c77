import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { transcript } from '../lib/reports/sample';
import { GATHER_MS } from './calmly';
import { happen, openPage, openServer } from './fakes';

vi.mock('./stream.svelte', () => import('./fakes'));
const { Files } = await import('./files.svelte');

let asked: ReturnType<typeof openServer>;
let stop: () => void = () => undefined;
beforeEach(() => {
  openPage();
  asked = openServer();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const many = Array.from({ length: 250 }, (_, at) => transcript({ id: `f${String(at)}` }));

it('follows those that one answer does not hold too', async () => {
  const files = new Files();
  stop = files.run();
  const firstPage = { items: many.slice(0, 200), next_cursor: 'more' };
  await asked[0]?.answer(firstPage);
  void files.readMore();
  await asked[1]?.answer({ items: many.slice(200), next_cursor: null });

  happen('file_state_changed', { file_id: 'f240' });
  expect(asked.at(-1)?.path).toBe('/api/files/f240');
  await asked.at(-1)?.answer(transcript({ id: 'f240', status: 'succeeded' }));
  expect(files.items?.[240]?.status).toBe('succeeded');
  await asked.at(-1)?.answer(firstPage);
  expect(files.items).toHaveLength(250);

  happen('file_removed', { file_id: 'f241' });
  await asked.at(-1)?.answer(firstPage);
  expect(files.items?.map(({ id }) => id)).not.toContain('f241');

  const before = asked.length;
  happen('file_state_changed', { file_id: 'f3' });
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(asked.slice(before).map(({ path }) => path)).toEqual(['/api/files?limit=200']);
});
