import { describe, expect, it } from 'vitest';
import type { RunMark, RunStatus } from '../api/journeys';
import { cellsOf, crosses, everyText, ordered, sinceOf, statusOf, stripText, underWay, wordOf } from './runs';

const mark = (status: RunStatus): RunMark => ({ id: 'r', status, at: '', duration_ms: null });

describe('the strip of a journey', () => {
  it('has a cell for each run that ended, the newest at the right edge', () => {
    const cells = cellsOf([mark('passed'), mark('failed'), mark('skipped'), mark('running')]);
    expect(cells).toHaveLength(60);
    expect(cells.slice(-4)).toEqual([null, 'healthy', 'down', 'skipped']);
  });

  it('is told in words, the worst first', () => {
    expect(stripText([])).toBe('no run has ended yet');
    expect(stripText([mark('passed')])).toBe('last run: 1 passed');
    expect(stripText([mark('passed'), mark('failed'), mark('passed'), mark('queued')])).toBe(
      'last 3 runs: 1 failed, 2 passed',
    );
  });
});

describe('the runs of a journey', () => {
  it('have one under way behind those that were skipped because of it', () => {
    const runs = [mark('skipped'), mark('skipped'), mark('running'), mark('passed')];
    expect(underWay(runs)).toBe(runs[2]);
    expect(underWay([mark('queued')])?.status).toBe('queued');
    expect(underWay([mark('skipped'), mark('aborted')])).toBeNull();
  });
});

describe('a journey', () => {
  it('has a status and a word', () => {
    const runs = { not_run_since: null };
    expect([statusOf({ outcome: null, ...runs }), statusOf({ outcome: 'failed', ...runs })]).toEqual(['unknown', 'down']);
    expect(wordOf({ outcome: 'passed', is_enabled: true, ...runs })).toBe('passing');
    expect(wordOf({ outcome: 'failed', is_enabled: false, ...runs })).toBe('failing, off');
    expect([everyText(null), everyText(60_000)]).toEqual(['by hand', 'every 1\u00a0min']);
  });

  it('does not pass as passing when it is not run any more', () => {
    const quiet = { outcome: 'passed', is_enabled: true, outcome_since: 'earlier', not_run_since: 'later' } as const;
    expect([statusOf(quiet), wordOf(quiet), sinceOf(quiet)]).toEqual(['unknown', 'not run, was passing', 'later']);
    expect(wordOf({ ...quiet, outcome: null })).toBe('not run');
    expect(sinceOf({ ...quiet, not_run_since: null })).toBe('earlier');
  });

  it('crosses what it names, in any case', () => {
    expect([crosses(['Payments '], 'payments'), crosses(['Payments'], 'pay')]).toEqual([true, false]);
  });

  it('stands first where it fails, and last where it is off', () => {
    const named = (name: string, outcome: 'passed' | 'failed' | null, is_enabled = true) => ({ name, outcome, is_enabled });
    const all = [named('b', 'passed'), named('d', 'failed', false), named('a', 'passed'), named('c', 'failed'), named('e', null)];
    expect(ordered(all).map(({ name }) => name)).toEqual(['c', 'e', 'a', 'b', 'd']);
  });
});
