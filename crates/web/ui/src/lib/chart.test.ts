import { describe, expect, it } from 'vitest';
import type { LatencyBucket, Timeline } from './api/dependencies';
import { chart, HEIGHT, nearest, stretches, summary, WIDTH } from './chart';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;

function bucket(minutesAgo: number, ms: number, more: Partial<LatencyBucket> = {}): LatencyBucket {
  return {
    start: new Date(NOW - minutesAgo * MINUTE).toISOString(),
    count: 1,
    min_ms: ms,
    avg_ms: ms,
    max_ms: ms,
    p95_ms: ms,
    ...more,
  };
}

/** How many lines a path has. */
const lines = (path: string) => path.split('M').length - 1;

describe('a chart', () => {
  it('of nothing is none', () => {
    expect(chart([], '1h', NOW)).toBeNull();
  });

  it('puts each step where its time is', () => {
    const drawn = chart([bucket(60, 5), bucket(30, 5), bucket(0, 5)], '1h', NOW);
    expect(drawn?.spots.map(({ x }) => x)).toEqual([0, WIDTH / 2, WIDTH]);
  });

  it('keeps what is a little older than the range inside', () => {
    expect(chart([bucket(61, 5)], '1h', NOW)?.spots[0]?.x).toBe(0);
  });

  it.each([
    [0.3, 0.5],
    [1, 1],
    [7, 10],
    [12, 20],
    [40, 50],
    [501, 1_000],
    [0, 1],
  ])('has a round top above %d ms', (most, top) => {
    expect(chart([bucket(5, most)], '1h', NOW)?.top).toBeCloseTo(top);
  });

  it('draws the least below and the most above', () => {
    const drawn = chart([bucket(2, 5, { min_ms: 0, p95_ms: 10, max_ms: 10 })], '1h', NOW);
    expect(drawn?.p95).toMatch(/^M[\d.]+ 0L[\d.]+ 0$/);
    expect(drawn?.average).toMatch(new RegExp(`^M[\\d.]+ ${String(HEIGHT / 2)}L`));
    expect(drawn?.band).toContain(` ${String(HEIGHT)}`);
  });

  it('breaks its lines where a step is missing', () => {
    const whole = [bucket(5, 1), bucket(4, 1), bucket(3, 1), bucket(2, 1)];
    expect(lines(chart(whole, '1h', NOW)?.average ?? '')).toBe(1);
    const broken = whole.filter((_, at) => at !== 1);
    expect(lines(chart([...broken, bucket(1, 1)], '1h', NOW)?.average ?? '')).toBe(2);
  });

  it('has no line of the poll interval that is longer than a step', () => {
    const slow = [bucket(50, 1), bucket(40, 1), bucket(30, 1)];
    expect(lines(chart(slow, '1h', NOW)?.average ?? '')).toBe(1);
  });

  it('finds the step below the pointer', () => {
    const { spots } = chart([bucket(60, 1), bucket(30, 1), bucket(0, 1)], '1h', NOW) ?? { spots: [] };
    expect([0, 240, 260, 900, 1_000].map((x) => nearest(spots, x))).toEqual([0, 0, 1, 2, 2]);
  });

  it('weighs the average by how much was measured', () => {
    const steps = [bucket(2, 10, { count: 3, min_ms: 1 }), bucket(1, 50, { max_ms: 90 })];
    expect(summary(steps)).toEqual({ min: 1, avg: 20, max: 90, p95: 50 });
  });
});

describe('a timeline', () => {
  const at = (minute: number) => new Date(NOW + minute * MINUTE).toISOString();
  const line = (transitions: Timeline['transitions']): Timeline => ({
    from: at(0),
    to: at(60),
    initial: 'healthy',
    transitions,
  });

  it('without a change is one stretch', () => {
    expect(stretches(line([]))).toEqual([{ status: 'healthy', from: NOW, to: NOW + 60 * MINUTE }]);
  });

  it('goes from change to change and ends with the range', () => {
    const parts = stretches(line([{ at: at(10), status: 'down' }, { at: at(15), status: 'healthy' }]));
    expect(parts.map(({ status, from, to }) => [status, (to - from) / MINUTE])).toEqual([
      ['healthy', 10],
      ['down', 5],
      ['healthy', 45],
    ]);
  });

  it('leaves out what took no time', () => {
    const parts = stretches(line([{ at: at(0), status: 'down' }]));
    expect(parts.map(({ status }) => status)).toEqual(['down']);
  });
});
