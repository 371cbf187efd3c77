import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Failure } from '../lib/api/client';
import { STALE_AFTER_MS } from '../lib/connection';
import { begin, opened, SILENCE_MS, type Link } from '../lib/live/link';
import { Reading } from './reading.svelte';

const stream = vi.hoisted<{ link: Link | null; waitingSince: number }>(() => ({ link: null, waitingSince: 0 }));
vi.mock('./stream.svelte', () => ({ stream }));
const { live } = await import('./live.svelte');

const NOT_NOW: Failure = {
  title: 'Not now',
  detail: '',
  requestId: null,
  code: null,
  status: 503,
  retryAfter: null,
};

/** An answer that can be read, until it can't. */
function open() {
  const server = { works: true };
  const reading = new Reading(() =>
    Promise.resolve(
      server.works
        ? { ok: true as const, value: 'as it is', sentAt: 0, gotAt: 0 }
        : { ok: false as const, failure: NOT_NOW },
    ),
  );
  return { reading, server };
}

async function readAfter(reading: Reading<string>, ms: number) {
  vi.advanceTimersByTime(ms);
  await reading.read();
  live.now = Date.now();
}

let stop: () => void = () => undefined;
beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  stop();
  stream.link = null;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('is stale once what the page shows could not be read again for too long', async () => {
  const { reading, server } = open();
  stop = live.shows(reading);
  await readAfter(reading, 0);
  server.works = false;
  const since = Date.now() + 60_000;
  await readAfter(reading, 60_000);
  expect(live.stale).toBe(false);
  await readAfter(reading, STALE_AFTER_MS + 1_000);
  expect(live.light).toEqual({ kind: 'stale', seconds: 31, since });
  server.works = true;
  await readAfter(reading, 5_000);
  expect(live.stale).toBe(false);
});

it('is not stale for what was never shown, or is not shown any more', async () => {
  const { reading, server } = open();
  server.works = false;
  stop = live.shows(reading);
  await readAfter(reading, 0);
  await readAfter(reading, STALE_AFTER_MS + 1_000);
  expect(live.stale).toBe(false);
  server.works = true;
  await readAfter(reading, 0);
  server.works = false;
  await readAfter(reading, 0);
  await readAfter(reading, STALE_AFTER_MS + 1_000);
  expect(live.stale).toBe(true);
  stop();
  expect(live.stale).toBe(false);
});

it('is stale since the server was last heard, also once what the page shows is asked for in vain as long', async () => {
  const { reading, server } = open();
  stop = live.shows(reading);
  await readAfter(reading, 0);
  const since = Date.now();
  stream.link = opened(begin(since), since);
  server.works = false;
  await readAfter(reading, 800);
  await readAfter(reading, SILENCE_MS);
  expect(live.light).toMatchObject({ kind: 'stale', since });
  await readAfter(reading, STALE_AFTER_MS);
  expect(live.light).toMatchObject({ kind: 'stale', since });
});

it('is stale where nothing ever comes by itself, however well everything can be read', async () => {
  const system = { checks: [], database: {}, now: new Date().toISOString() };
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(system))));
  vi.advanceTimersByTime(60_000);
  stream.waitingSince = Date.now() - 60_000;
  await live.read();
  const since = Date.now();
  expect(live.light).toEqual({ kind: 'connecting' });
  vi.advanceTimersByTime(SILENCE_MS + 1_000);
  await live.read();
  expect(live.light).toEqual({ kind: 'stale', seconds: 11, since });
  stream.link = opened(begin(since), Date.now());
  live.now = Date.now() + 1;
  expect(live.light).toEqual({ kind: 'live' });
});

it('tells the server’s time in whole milliseconds, as an address holds it', async () => {
  const system = { checks: [], database: {}, now: new Date().toISOString() };
  vi.stubGlobal('fetch', () => {
    vi.advanceTimersByTime(1);
    return Promise.resolve(new Response(JSON.stringify(system)));
  });
  await live.read();
  expect(Number.isInteger(live.serverNow)).toBe(true);
});
