import { describe, expect, it } from 'vitest';
import type { Job } from '../../lib/api/jobs';
import { format } from '../../lib/route';
import {
  aboutOf,
  atMost,
  attempts,
  canCancel,
  canRetry,
  jobName,
  moves,
  news,
  noneText,
  statusWord,
  viewOf,
  waited,
} from './jobs';

const job = (more: Partial<Job>): Job => ({
  id: '1',
  kind: 'mail',
  subject: 'a',
  status: 'queued',
  priority: 0,
  attempts: 2,
  max_attempts: 4,
  crashes: 0,
  created_at: 'created',
  next_run_at: 'next',
  locked_at: null,
  locked_by: null,
  heartbeat_at: 'beat',
  lock_ttl_seconds: 300,
  stuck: false,
  last_error_code: null,
  last_error_message: null,
  finished_at: 'finished',
  archived: false,
  ...more,
});
const known = {
  journey: (id: string) => (id === '0a' ? 'Buy a hat' : undefined),
  worker: (id: string) => (id === '0b' ? 'tokyo-1' : undefined),
  net: (id: string) => (id === '0c' ? 'shop' : undefined),
  file: (id: string) => (id === '0d' ? 'call.vtt' : undefined),
};
const error = { last_error_code: 'unreachable', last_error_message: 'Nobody answered' };

describe('a job', () => {
  it.each<[Partial<Job>, string, string | null, boolean, boolean]>([
    [{ status: 'queued' }, 'queued', 'next', false, true],
    [{ status: 'processing' }, 'running', 'beat', false, true],
    [{ status: 'processing', stuck: true }, 'stuck', 'beat', false, true],
    [{ status: 'succeeded' }, 'done', 'finished', false, false],
    [{ status: 'failed' }, 'failed', 'finished', true, false],
    [{ status: 'failed', archived: true }, 'failed', 'finished', false, false],
  ])('that is %o is %s, moves at %s', (more, word, at, retry, cancel) => {
    expect(statusWord(job(more))).toBe(word);
    expect(moves(job(more)).at).toBe(at);
    expect(canRetry(job(more))).toBe(retry);
    expect(canCancel(job(more))).toBe(cancel);
  });

  it.each<[Partial<Job>, string]>([
    [{ status: 'failed', ...error }, 'unreachable: Nobody answered'],
    [{ status: 'failed', last_error_code: 'crash_loop' }, 'crash_loop'],
    [{ status: 'queued', ...error }, 'unreachable: Nobody answered'],
    [{ status: 'queued' }, ''],
    [{ status: 'processing', locked_by: 'harbour:7', ...error }, 'on harbour:7'],
    [{ status: 'processing' }, ''],
    [{ status: 'succeeded', ...error }, ''],
  ])('%o has to say: %s', (more, text) => {
    expect(news(job(more))).toBe(text);
  });

  it('has a name, with or without a subject', () => {
    expect(jobName(job({}), known)).toBe('Mail a');
    expect(jobName(job({ subject: null }), known)).toBe('Mail');
  });

  it('was tried so often', () => {
    expect(attempts(job({}))).toBe('2 of 4');
  });
});

it.each([
  ['failed', 'failed'],
  ['stuck', 'stuck'],
  ['evil', null],
  [undefined, null],
] as const)('the word %s narrows to %s', (word, view) => {
  expect(viewOf(word)).toBe(view);
});

it('says what is not there', () => {
  expect(noneText(null)).toBe('Nothing was queued yet.');
  expect(noneText('stuck')).toBe('No job is stuck.');
});

it.each([
  [null, '–'],
  [0, '0 s'],
  [-3, '0 s'],
  [312, '5 min'],
] as const)('%s seconds are %s', (seconds, text) => {
  expect(waited(seconds).replace('\u00a0', ' ')).toBe(text);
});

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1 000+'],
  [5_000, '1 000+'],
] as const)('a count of %s is told as %s', (count, text) => {
  expect(atMost(count, 1_000).replace('\u202f', ' ')).toBe(text);
});

it('calls a job by what it does, and one of an unknown kind by its kind', () => {
  expect(jobName({ kind: 'sweep_reports', subject: null }, known)).toBe('Clearing up reports');
  expect(jobName({ kind: 'mail', subject: 'invite nadia' }, known)).toBe('Mail invite nadia');
  expect(jobName({ kind: 'monitor_keyframes', subject: 'cron:monitor_keyframes' }, known)).toBe('State of the day on schedule');
  expect(jobName({ kind: 'their_own', subject: null }, known)).toBe('their_own');
});

it.each([
  ['journey', '0a', 'Buy a hat', '/journeys/0a'],
  ['fleet_operation', 'worker:0b', 'tokyo-1', '/fleet?row=0b&inspector=open'],
  ['fleet_operation', 'net:0c', 'shop', '/nets?row=0c&inspector=open'],
  ['report', '0d', 'call.vtt', '/reports/0d'],
  ['report', '0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d', 'file …3a4b5c6d', null],
  ['fleet_operation', 'worker:0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d', 'worker …3a4b5c6d', null],
  ['mail', 'invite: nadia', 'invite: nadia', null],
  ['sweep_reports', null, '', null],
] as const)('a job of kind %s about %s is about %s, and leads to %s', (kind, subject, text, address) => {
  const { text: told, leads } = aboutOf({ kind, subject }, known);
  expect([told, leads === null ? null : format(leads)]).toEqual([text, address]);
});
