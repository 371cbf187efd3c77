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

/** Uploads whose answers come when a test lets them, while Ada is signed in, or whom a test says. */
function open() {
  const signedIn = { who: 'ada' };
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
  }), () => Promise.resolve({ ...taken, value: signedIn.who }));
  const add = async (...names: string[]) => {
    uploads.add(names.map((name) => new File(['hello'], name)), null, LIMITS, 'ada');
    await vi.advanceTimersByTimeAsync(0);
  };
  const states = () => uploads.items.map(({ state }) => state.kind).join(' ');
  return { sent, signedIn, uploads, add, states };
}

const taken: Answer<string> = { ok: true, value: 'id', sentAt: 0, gotAt: 0 };
const refused = (status: number, retryAfter: number | null, code: string | null = null): Answer<string> => ({
  ok: false,
  failure: { title: 'no', detail: 'why', requestId: null, code, status, retryAfter },
});

it('waits as long as the server says when it takes no more, and then goes on in order', async () => {
  const { sent, uploads, add, states } = open();
  await add('a.txt', 'b.txt');
  await sent[0]?.answer(refused(429, 12));
  expect(states()).toBe('waiting waiting');
  expect(uploads.items[0]?.state).toEqual({ kind: 'waiting', until: Date.now() + 12_000 });
  await add('c.txt');
  await vi.advanceTimersByTimeAsync(11_999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent.map(({ name }) => name)).toEqual(['a.txt', 'a.txt']);
  await sent[1]?.answer(taken);
  expect(states()).toBe('sent sending waiting');
});

it('sends nothing of one person as another', async () => {
  const { sent, signedIn, uploads, add, states } = open();
  await add('a.txt', 'b.txt', 'c.txt');
  // In another tab.
  signedIn.who = 'jonas';
  await sent[0]?.answer(taken);
  expect(states()).toBe('sent refused refused');
  expect(uploads.items[1]?.state).toMatchObject({ kind: 'refused', again: true, failure: { title: 'It was not sent' } });
  expect(sent.map(({ name }) => name)).toEqual(['a.txt']);
  signedIn.who = 'ada';
  uploads.again(uploads.items[1]?.key ?? 0);
  await vi.advanceTimersByTimeAsync(0);
  expect(sent.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
});

it('sends nothing that was cancelled before its turn came', async () => {
  const { sent, uploads, add, states } = open();
  const adding = add('a.txt', 'b.txt');
  uploads.cancel(uploads.items[0]?.key ?? 0);
  await adding;
  expect(sent.map(({ name }) => name)).toEqual(['b.txt']);
  expect(states()).toBe('sending');
});

it('does not wait for ever', async () => {
  const { sent, add, states } = open();
  await add('a.txt');
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
  await add('a.txt', 'b.txt');
  await sent[0]?.answer(refused(400, null));
  expect(states()).toBe('refused sending');
});

it.each([
  [401, 'unauthenticated', true],
  [408, 'body_too_slow', true],
  [409, 'upload_interrupted', true],
  [409, 'too_many_files', false],
  [413, 'file_too_large', false],
  [400, 'invalid_multipart', false],
  [503, 's3_put_failed', true],
])('offers to send it again where %i %s may pass', async (status, code, again) => {
  const { sent, uploads, add } = open();
  await add('a.txt');
  await sent[0]?.answer(refused(status, null, code));
  expect(uploads.items[0]?.state).toMatchObject({ kind: 'refused', again });
});

it('puts away the oldest that are over, and never what is still to be sent', async () => {
  const { sent, uploads, add, states } = open();
  await add('first.txt', 'second.txt');
  await sent[0]?.answer(refused(429, 600));
  for (let time = 0; time < 5; time += 1) await add(...Array.from({ length: 18 }, (_, at) => `${String(time)}-${String(at)}.pdf`));
  const names = uploads.items.map(({ file }) => file.name);
  expect(names.slice(0, 2)).toEqual(['first.txt', 'second.txt']);
  expect(names.slice(2)).toHaveLength(60);
  expect(names.at(-1)).toBe('4-17.pdf');
  await vi.advanceTimersByTimeAsync(600_000);
  expect(states()).toMatch(/^sending waiting refused/);
});
