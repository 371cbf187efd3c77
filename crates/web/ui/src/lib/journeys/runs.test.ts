import { describe, expect, it } from 'vitest';
import type { RunMark, RunStatus } from '../api/journeys';
import { cellsOf, crosses, everyText, ordered, statusOf, stripText, wordOf } from './runs';

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

describe('a journey', () => {
  it('has a status and a word', () => {
    expect([statusOf({ outcome: null }), statusOf({ outcome: 'failed' })]).toEqual(['unknown', 'down']);
    expect(wordOf({ outcome: 'passed', is_enabled: true })).toBe('passes');
    expect(wordOf({ outcome: 'failed', is_enabled: false })).toBe('fails, off');
    expect([everyText(null), everyText(60_000)]).toEqual(['by hand', 'every 1\u00a0min']);
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
