import { describe, expect, it } from 'vitest';
import { clock, placeOf, spanOf, ticks, timeAt } from './axis';

const NOW = Date.parse('2026-01-01T12:07:00Z');

describe('the span of a range', () => {
  it('ends now, and moves on in small steps', () => {
    const span = spanOf('1h', NOW);
    expect(span.to - span.from).toBe(3_600_000);
    expect(span.to).toBeGreaterThanOrEqual(NOW);
    expect(span.to - NOW).toBeLessThan(3_600);
    expect(spanOf('1h', NOW + 100)).toEqual(spanOf('1h', NOW + 200));
  });

  it('has places from 0 to 1, and the other way round', () => {
    const span = { from: 0, to: 200 };
    expect([-5, 0, 50, 200, 300].map((time) => placeOf(time, span))).toEqual([0, 0, 0.25, 1, 1]);
    expect([-1, 0.25, 2].map((part) => timeAt(part, span))).toEqual([0, 50, 200]);
  });
});

describe('the marks of the axis', () => {
  const labels = (range: Parameters<typeof ticks>[0], zone: string) =>
    ticks(range, spanOf(range, NOW), zone).map(({ label }) => label);

  it.each([
    ['1h', 'UTC', ['11:10', '11:20', '11:30', '11:40', '11:50', '12:00']],
    ['6h', 'UTC', ['07:00', '08:00', '09:00', '10:00', '11:00']],
    ['24h', 'UTC', ['16:00', '20:00', '00:00', '04:00', '08:00']],
    // Half an hour off the full hours of UTC.
    ['6h', 'Asia/Kolkata', ['12:00', '13:00', '14:00', '15:00', '16:00', '17:00']],
    ['7d', 'UTC', ['26 Dec', '27 Dec', '28 Dec', '29 Dec', '30 Dec', '31 Dec', '1 Jan']],
  ] as const)('of %s in %s are at round times', (range, zone, expected) => {
    expect(labels(range, zone)).toEqual(expected);
  });

  it('are few in each range', () => {
    for (const range of ['1h', '6h', '24h', '7d', '30d'] as const) {
      expect(labels(range, 'UTC').length).toBeLessThanOrEqual(7);
    }
  });
});

it('tells a moment as precisely as the range can', () => {
  expect(clock(NOW, '1h', 'UTC')).toBe('12:07:00');
  expect(clock(NOW, '7d', 'UTC')).toBe('1 Jan, 12:07');
});
