import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Answer } from '../lib/api/client';
import { LIMITS } from '../lib/reports/transcripts';
import { Uploads } from './uploads.svelte';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', vi.fn());
  vi.stubGlobal('removeEventListener', vi.fn());
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Uploads whose answers come when a test lets them. */
function open() {
  const sent: { name: string; answer: (answer: Answer<string>) => Promise<void> }[] = [];
  const uploads = new Uploads((file) => ({
    done: new Promise((resolve) => {
      const answer = async (given: Answer<string>) => {
        resolve(given);
        await vi.advanceTimersByTimeAsync(0);
      };
      sent.push({ name: file.name, answer });
    }),
    cancel: () => undefined,
  }));
  const add = (...names: string[]) => {
    uploads.add(names.map((name) => new File(['hello'], name)), null, LIMITS);
  };
  const states = () => uploads.items.map(({ state }) => state.kind).join(' ');
  return { sent, uploads, add, states };
}

const taken: Answer<string> = { ok: true, value: 'id', sentAt: 0, gotAt: 0 };
const refused = (status: number, retryAfter: number | null): Answer<string> => ({
  ok: false,
  failure: { title: 'no', detail: 'why', requestId: null, code: null, status, retryAfter },
});

it('waits as long as the server says when it takes no more, and then goes on in order', async () => {
  const { sent, uploads, add, states } = open();
  add('a.txt', 'b.txt');
  await sent[0]?.answer(refused(429, 12));
  expect(states()).toBe('waiting waiting');
  expect(uploads.items[0]?.state).toEqual({ kind: 'waiting', until: Date.now() + 12_000 });
  add('c.txt');
  await vi.advanceTimersByTimeAsync(11_999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.map(({ name }) => name)).toEqual(['a.txt', 'a.txt']);
  await sent[1]?.answer(taken);
  expect(states()).toBe('sent sending waiting');
});

it('does not wait for ever', async () => {
  const { sent, add, states } = open();
  add('a.txt');
  for (let pause = 0; pause < 10; pause += 1) {
    await sent.at(-1)?.answer(refused(429, null));
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect(states()).toBe('sending');
  await sent.at(-1)?.answer(refused(429, null));
  expect(states()).toBe('refused');
});

it('lets the next one have its turn when one is refused for what it is', async () => {
  const { sent, add, states } = open();
  add('a.txt', 'b.txt');
  await sent[0]?.answer(refused(400, null));
  expect(states()).toBe('refused sending');
});
