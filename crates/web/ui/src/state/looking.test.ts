import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Answer } from '../lib/api/client';
import type { JourneyCheck } from '../lib/api/journeys';
import { LOOK_AGAIN_MS, LOOK_WAIT_MS, Looking } from './looking.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Looks whose answers come when a test lets them. */
function open() {
  const asked: { text: string; answer: (answer: Answer<JourneyCheck>) => Promise<void> }[] = [];
  const looking = new Looking((text) => new Promise((resolve) => {
    const answer = async (given: Answer<JourneyCheck>) => {
      resolve(given);
      await vi.advanceTimersByTimeAsync(0);
    };
    asked.push({ text, answer });
  }));
  const write = async (text: string) => {
    looking.want(text);
    await vi.advanceTimersByTimeAsync(LOOK_WAIT_MS);
  };
  return { asked, looking, write, texts: () => asked.map(({ text }) => text) };
}

const found = (check: JourneyCheck): Answer<JourneyCheck> => ({ ok: true, value: check, sentAt: 0, gotAt: 0 });
const fine: JourneyCheck = { journey: null, mistakes: [], warnings: [] };
const wrong: JourneyCheck = {
  journey: null,
  mistakes: [{ line: 1, column: 1, path: '', message: 'no', nearest: null }],
  warnings: [],
};
const unanswered = (retryAfter: number | null = null): Answer<JourneyCheck> => ({
  ok: false,
  failure: { title: 'No answer', detail: 'why', requestId: null, code: null, status: null, retryAfter },
});

it('asks once for what is typed in one go', async () => {
  const { looking, write, texts } = open();
  looking.want('a');
  looking.want('ab');
  await write('abc');
  expect(texts()).toEqual(['abc']);
});

it('takes no answer about what was written before', async () => {
  const { asked, looking, write } = open();
  await write('a');
  looking.want('b');
  await asked[0]?.answer(found(fine));
  expect(looking.check).toBeNull();
  await vi.advanceTimersByTimeAsync(LOOK_WAIT_MS);
  await write('c');
  await asked[2]?.answer(found(wrong));
  await asked[1]?.answer(found(fine));
  expect(looking.check).toBe(wrong);
});

it('knows nothing of what is written now until it was looked over, and keeps what was found in sight', async () => {
  const { asked, looking, write } = open();
  await write('a');
  await asked[0]?.answer(found(wrong));
  looking.want('b');
  expect(looking.check).toBeNull();
  expect(looking.mistakes).toEqual(wrong.mistakes);
});

it('says that nobody answered, in place of what was known before, and asks again', async () => {
  const { asked, looking, write, texts } = open();
  await write('a');
  await asked[0]?.answer(found(wrong));
  await write('b');
  await asked[1]?.answer(unanswered());
  expect(looking.failure?.title).toBe('No answer');
  expect(looking.check).toBeNull();
  expect(looking.mistakes).toEqual([]);
  await vi.advanceTimersByTimeAsync(LOOK_AGAIN_MS);
  expect(texts()).toEqual(['a', 'b', 'b']);
  await asked[2]?.answer(unanswered(30));
  await vi.advanceTimersByTimeAsync(29_999);
  expect(asked).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(1);
  await asked[3]?.answer(found(fine));
  expect(looking.failure).toBeNull();
  expect(looking.check).toBe(fine);
});

it('asks no more once it is stopped', async () => {
  const { asked, looking, write } = open();
  await write('a');
  looking.stop();
  await asked[0]?.answer(unanswered());
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  expect(looking.failure).toBeNull();
});
