import { describe, expect, it } from 'vitest';
import type { Transcript } from '../api/files';
import { canRetry, isPutOff, isUnderWay, newsOf, remedyOf, standingOf, standingText } from './state';
import { transcript } from './sample';

const NOW = Date.parse('2026-11-15T21:00:00Z');
const text = (more: Partial<Transcript>) => standingText(transcript(more), NOW);
const error = { code: 'llm_timeout', message: 'It took too long.' };

describe('a report stands in words', () => {
  it.each<[Partial<Transcript>, string, string]>([
    [{ status: 'queued' }, 'queued', 'unknown'],
    [{ status: 'processing', attempts: 1 }, 'processing', 'unknown'],
    [{ status: 'processing', attempts: 2 }, 'processing, attempt 2 of 4', 'unknown'],
    [{ status: 'processing', queued_at: null }, 'uploading', 'unknown'],
    [
      { status: 'queued', attempts: 1, last_error: error, next_run_at: '2026-11-15T21:01:36Z' },
      'next try in 96 s',
      'degraded',
    ],
    [
      { status: 'queued', attempts: 3, last_error: error, next_run_at: '2026-11-15T21:08:00Z' },
      'next try in 8 min',
      'degraded',
    ],
    [
      { status: 'queued', attempts: 1, last_error: error, next_run_at: '2026-11-15T20:59:00Z' },
      'queued again',
      'degraded',
    ],
    // Put off without a failure of its own.
    [{ status: 'queued', next_run_at: '2026-11-15T21:00:30Z' }, 'queued, next try in 30 s', 'unknown'],
    // Put off because somebody else fails: it says whom it waits for.
    [
      { status: 'queued', last_error: { code: 'llm_left_alone', message: 'It is left alone.' }, next_run_at: '2026-11-15T21:00:30Z' },
      'waits for the language model, next try in 30 s',
      'degraded',
    ],
    [
      { status: 'queued', attempts: 2, last_error: error, next_run_at: '2026-11-17T21:00:00Z' },
      'next try in 2 days',
      'degraded',
    ],
    [{ status: 'failed', last_error: error }, 'failed, llm_timeout', 'down'],
    [{ status: 'failed', last_error: { code: 'llm_call_failed', message: 'x' } }, 'failed, by the model', 'down'],
    [{ status: 'failed' }, 'failed', 'down'],
    [{ status: 'succeeded' }, 'ready', 'healthy'],
  ])('%j is %s', (more, says, glyph) => {
    expect(text(more)).toBe(says);
    expect(standingOf(transcript(more), NOW).glyph).toBe(glyph);
  });
});

it('waits for a model where the server has none, and only while it is queued', () => {
  const off = (more: Partial<Transcript>) => standingText(transcript(more), NOW, false);
  expect(off({ status: 'queued' })).toBe('waits for a language model');
  expect(off({ status: 'queued', attempts: 1, last_error: error, next_run_at: '2026-11-15T21:01:36Z' })).toBe('waits for a language model');
  expect(off({ status: 'processing', attempts: 1 })).toBe('processing');
  expect(off({ status: 'failed' })).toBe('failed');
  expect(off({ status: 'succeeded' })).toBe('ready');
});

it('says aloud what has changed, and nothing else', () => {
  const ready = transcript({ status: 'succeeded', name: 'call.vtt' });
  expect(newsOf('processing', ready)).toBe('The report of call.vtt is ready.');
  expect(newsOf('succeeded', ready)).toBeNull();
  expect(newsOf(undefined, ready)).toBeNull();
});

it('tells what a report waits for from what went wrong with it', () => {
  expect(isPutOff(transcript({ last_error: { code: 's3_left_alone', message: 'x' } }))).toBe(true);
  expect(isPutOff(transcript({ last_error: error }))).toBe(false);
  expect(isPutOff(transcript({}))).toBe(false);
});

it('offers another try only of what was stored', () => {
  expect(canRetry(transcript({ status: 'failed' }), true)).toBe(true);
  expect(canRetry(transcript({ status: 'failed', queued_at: null }), true)).toBe(false);
  expect(canRetry(transcript({ status: 'succeeded' }), true)).toBe(false);
});

it('offers no try that is refused, and says what it needs', () => {
  const failed = transcript({ status: 'failed', attempts: 4 });
  expect(canRetry(failed, false)).toBe(false);
  expect(remedyOf(failed, false)).toMatch(/^It was tried 4 times\. .* language model\.$/);
  expect(remedyOf(failed, true)).toBe('It was tried 4 times, and is not tried again by itself.');
  expect(remedyOf({ ...failed, attempts: 1 }, true)).toMatch(/^It was tried once,/);
  for (const configured of [true, false]) {
    expect(remedyOf({ ...failed, queued_at: null }, configured)).toMatch(/upload it once more/);
  }
});

it.each([
  ['cancelled', 'cancelled'],
  ['timed_out', 'took too long'],
  ['panicked', 'a bug in Mainstay'],
  ['file_missing', 'file deleted'],
  ['crash_loop', 'crashed too often'],
])('has words for %s', (code, words) => {
  expect(text({ status: 'failed', last_error: { code, message: 'x' } })).toBe(`failed, ${words}`);
});

it('knows what is still to come', () => {
  const under = (['processing', 'queued', 'succeeded', 'failed'] as const).filter((status) =>
    isUnderWay({ status }),
  );
  expect(under).toEqual(['processing', 'queued']);
});
