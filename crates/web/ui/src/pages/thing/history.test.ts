import { describe, expect, it } from 'vitest';
import type { DependencyError, Timeline } from '../../lib/api/dependencies';
import { changesOf, wholeOf } from './history';

const START = Date.parse('2026-11-15T21:00:00.000Z');
const MINUTE = 60_000;
const at = (minute: number) => new Date(START + minute * MINUTE).toISOString();
const SPAN = { from: START, to: START + 60 * MINUTE };

function timeline(initial: Timeline['initial'], turns: [number, Timeline['initial']][] = [], from = 0): Timeline {
  return { from: at(from), to: at(60), initial, transitions: turns.map(([minute, status]) => ({ at: at(minute), status })) };
}

const error = (minute: number, text: string | null): DependencyError => ({ at: at(minute), status: null, error: null, error_message: text });

describe('the whole of what is said of a thing', () => {
  const told = (all: Timeline[]) => {
    const whole = wholeOf(all);
    return whole && [whole.initial, ...whole.transitions.map((turn) => `${String((Date.parse(turn.at) - START) / MINUTE)} ${turn.status}`)];
  };

  it.each<[string, Timeline[], unknown]>([
    ['is what the only one says', [timeline('healthy', [[5, 'down'], [9, 'healthy']])], ['healthy', '5 down', '9 healthy']],
    ['is the worst that is known', [timeline('healthy', [[5, 'down'], [9, 'healthy']]), timeline('degraded', [[7, 'healthy']])], ['degraded', '5 down', '9 healthy']],
    ['is known while one knows', [timeline('unknown'), timeline('healthy', [[5, 'unknown']])], ['healthy', '5 unknown']],
    ['is one change for all of a moment', [timeline('healthy', [[5, 'down']]), timeline('healthy', [[5, 'degraded']])], ['healthy', '5 down']],
    ['begins with the first who tells', [timeline('healthy', [], 30), timeline('down', [[40, 'healthy']])], ['down', '40 healthy']],
  ])('%s', (_, all, expected) => {
    expect(told(all)).toEqual(expected);
  });

  it('is nothing where nobody told of it', () => {
    expect(wholeOf([])).toBeNull();
  });
});

describe('the changes of a thing', () => {
  const reports = [{ id: 'a', name: 'Orders' }, { id: 'b', name: 'Search' }];
  const told = (timelines: Record<string, Timeline>, errors: Record<string, { items: DependencyError[] }>) =>
    changesOf(reports, timelines, errors, SPAN).map(({ at: time, name, before, after, text }) =>
      [(Date.parse(time) - START) / MINUTE, name, before, after, text]);

  it('are those of everybody, newest first, each with what was wrong then', () => {
    const timelines = { a: timeline('healthy', [[5, 'degraded'], [6, 'down'], [9, 'healthy']]), b: timeline('healthy', [[7, 'down']]) };
    const errors = { a: { items: [error(9, null), error(6, 'refused'), error(5, 'slow')] }, b: { items: [error(7, 'timed out')] } };
    expect(told(timelines, errors)).toEqual([
      [9, 'Orders', 'down', 'healthy', null],
      [7, 'Search', 'healthy', 'down', 'timed out'],
      [6, 'Orders', 'degraded', 'down', 'refused'],
      [5, 'Orders', 'healthy', 'degraded', 'slow'],
    ]);
  });

  it('tell of another error while the status stays', () => {
    const timelines = { a: timeline('healthy', [[5, 'down']]) };
    const errors = { a: { items: [error(8, 'reset'), error(5, 'refused')] } };
    expect(told(timelines, errors)).toEqual([
      [8, 'Orders', 'down', 'down', 'reset'],
      [5, 'Orders', 'healthy', 'down', 'refused'],
    ]);
  });

  it('go on with the error that was there before, and leave out what lies before the span', () => {
    const timelines = { a: timeline('degraded', [[5, 'down']]) };
    const errors = { a: { items: [error(-30, 'slow')] } };
    expect(told(timelines, errors)).toEqual([[5, 'Orders', 'degraded', 'down', 'slow']]);
    const early = { a: { ...timeline('healthy', [[-2, 'down'], [3, 'healthy']]), from: at(-10) } };
    expect(told(early, {})).toEqual([[3, 'Orders', 'down', 'healthy', null]]);
  });
});
