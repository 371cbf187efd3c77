import { describe, expect, it } from 'vitest';
import type { Timeline } from './api/dependencies';
import type { Stretch } from './chart';
import { healthyPart, paints, partAt, segments, spoken, walked } from './lanes';

const SPAN = { from: 1_000_000, to: 1_100_000 };
const iso = (time: number) => new Date(time).toISOString();
const timeline = (initial: Timeline['initial'], ...changes: [number, Timeline['initial']][]): Timeline => ({
  from: iso(SPAN.from - 5_000),
  to: iso(SPAN.to - 5_000),
  initial,
  transitions: changes.map(([at, status]) => ({ at: iso(at), status })),
});
const part = (status: Stretch['status'], from: number, to: number): Stretch => ({ status, from, to });

describe('the parts of a lane', () => {
  it('are cut to the span, and last until its end', () => {
    expect(segments(timeline('healthy', [1_050_000, 'down']), SPAN)).toEqual([
      part('healthy', SPAN.from, 1_050_000),
      part('down', 1_050_000, SPAN.to),
    ]);
  });

  it('of the same status are one', () => {
    const same = timeline('healthy', [1_020_000, 'healthy'], [1_050_000, 'degraded']);
    expect(segments(same, SPAN)).toHaveLength(2);
  });

  it('are found by their time', () => {
    const lane = segments(timeline('healthy', [1_050_000, 'down']), SPAN);
    expect([partAt(lane, 1_020_000), partAt(lane, 1_060_000), partAt(lane, 1)]).toEqual([0, 1, null]);
  });

  it('tell how much of the known time was healthy', () => {
    expect(healthyPart([part('healthy', 0, 75), part('down', 75, 100), part('unknown', 100, 900)])).toBe(0.75);
    expect(healthyPart([part('unknown', 0, 10)])).toBeNull();
  });
});

describe('a drawn lane', () => {
  const drawn = (lane: Stretch[]) => Object.fromEntries(paints(lane, SPAN).map(({ status, path }) => [status, path]));

  it('has a height for each status, and a notch in what is down', () => {
    const all = drawn([
      part('healthy', 1_000_000, 1_020_000),
      part('degraded', 1_020_000, 1_040_000),
      part('unknown', 1_040_000, 1_060_000),
      part('skipped', 1_060_000, 1_080_000),
      part('down', 1_080_000, 1_100_000),
    ]);
    expect(all['healthy']).toBe('M0 0h200v20h-200Z');
    expect(all['degraded']).toBe('M200 8h200v12h-200Z');
    expect(all['unknown']).toBe('M400 14h200v6h-200Z');
    expect(all['skipped']).toBe('M600 17h200v3h-200Z');
    expect(all['down']).toBe('M800 0h200v8.5h-200ZM800 11.5h200v8.5h-200Z');
  });

  it('shows the shortest outage, also at the end', () => {
    expect(drawn([part('down', 1_099_999, 1_100_000)])['down']).toMatch(/^M997 0h3v/);
  });

  it('stays small however often something changed', () => {
    const many = Array.from({ length: 20_000 }, (_, at) =>
      part(at % 2 === 0 ? 'down' : 'healthy', SPAN.from + at * 5, SPAN.from + at * 5 + 5));
    expect((drawn(many)['down'] ?? '').length).toBeLessThan(80_000);
  });
});

describe('walking the lanes', () => {
  const lanes = [
    [part('healthy', 0, 50), part('down', 50, 100)],
    [part('healthy', 0, 20), part('down', 20, 60), part('healthy', 60, 100)],
    [],
  ];
  it.each([
    [null, 'ArrowLeft', { lane: 0, segment: 1 }],
    [{ lane: 0, segment: 1 }, 'ArrowLeft', { lane: 0, segment: 0 }],
    [{ lane: 0, segment: 0 }, 'ArrowLeft', { lane: 0, segment: 0 }],
    [{ lane: 1, segment: 1 }, 'ArrowRight', { lane: 1, segment: 2 }],
    [{ lane: 0, segment: 1 }, 'ArrowDown', { lane: 1, segment: 2 }],
    [{ lane: 1, segment: 0 }, 'ArrowUp', { lane: 0, segment: 0 }],
    [{ lane: 1, segment: 0 }, 'ArrowDown', { lane: 2, segment: 0 }],
    [{ lane: 1, segment: 1 }, 'Home', { lane: 1, segment: 0 }],
    [{ lane: 1, segment: 0 }, 'End', { lane: 1, segment: 2 }],
    [{ lane: 1, segment: 0 }, 'a', null],
  ] as const)('from %o by %s', (from, key, to) => {
    expect(walked(lanes, from, key)).toEqual(to);
  });

  it('leads nowhere where there is none', () => {
    expect(walked([], null, 'ArrowLeft')).toBeNull();
  });

  it('is spoken', () => {
    const clock = (time: number) => `t${String(time)}`;
    const lane = [part('healthy', 0, 60_000), part('down', 60_000, 60_500)];
    expect(spoken('stripe', lane, 0, clock)).toBe('stripe: healthy for 1\u00a0min, from t0 to t60000');
    expect(spoken('stripe', lane, 1, clock)).toBe('stripe: down for under 1\u00a0s, from t60000 until now');
    expect(spoken('stripe', [], 0, clock)).toContain('nothing is known');
  });
});
