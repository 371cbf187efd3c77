import { describe, expect, it } from 'vitest';
import { absolute, ago, counted, grouped, lasted, latency, moment, second, sinceTime, skew, span, until, zoned } from './time';

const plain = (text: string | null) => text?.replace(/[\u00a0\u202f]/g, ' ') ?? null;

describe('relative time', () => {
  it.each([
    [0, 'just now'],
    [1_999, 'just now'],
    [2_000, '2 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_599_999, '59 min ago'],
    [3_600_000, '1 h ago'],
    [47 * 3_600_000, '47 h ago'],
    [48 * 3_600_000, '2 d ago'],
  ])('tells %i ms as %s', (age, text) => {
    expect(plain(ago(1_000_000_000 - age, 1_000_000_000))).toBe(text);
  });

  it('takes what lies ahead as now', () => {
    expect(ago(2_000, 1_000)).toBe('just now');
  });

  it('never breaks between a number and its unit', () => {
    expect(span(5_000)).toBe('5\u00a0s');
  });
});

describe('what lasts', () => {
  const known = Date.parse('2026-01-01T03:12:40Z');

  it('is told up to now', () => {
    expect(plain(lasted(known - 45_000, known, known, 'UTC'))).toBe('45 s');
    expect(plain(lasted(known + 45_000, known, known, 'UTC'))).toBe('0 s');
  });

  it('is told up to the last moment that is known, which is named', () => {
    expect(plain(lasted(known - 45_000, known, known + 90_000, 'UTC'))).toBe('45 s at 03:12:40');
  });
});

describe('what lies ahead', () => {
  it.each([
    [1_000, 'in 1 s'],
    [89_000, 'in 1 min'],
    [91_000, 'in 2 min'],
    [14 * 86_400_000 - 60_000, 'in 14 d'],
    [999, 'just now'],
    [-5_000, '5 s ago'],
  ])('tells %i ms as %s', (ahead, text) => {
    expect(plain(until(1_000_000 + ahead, 1_000_000))).toBe(text);
  });
});

describe('counted', () => {
  it.each([
    [0, 0, '0 users'],
    [1, 1, '1 user'],
    [2, 1_204, '2 of 1 204 users'],
  ])('%i of %i is %s', (shown, total, text) => {
    expect(plain(counted(shown, total, 'user'))).toBe(text);
  });

  it('takes a plural of its own', () => {
    expect(counted(2, 2, 'entry', 'entries')).toBe('2 entries');
  });
});

describe('latency', () => {
  it('of nothing is nothing', () => {
    expect(plain(latency(0))).toBe('0 ms');
  });

  it.each([
    [0.2, '0.20 ms'],
    [1.26, '1.3 ms'],
    [42.44, '42.4 ms'],
    [420.4, '420 ms'],
    [1_250, '1.3 s'],
    [62_000, '62 s'],
    [Number.NaN, '–'],
    [-1, '–'],
  ])('writes %d as %s', (ms, text) => {
    expect(plain(latency(ms))).toBe(text);
  });
});

describe('absolute time', () => {
  it('names the day, the second and the zone', () => {
    expect(absolute('2026-11-15T21:00:05.000Z', 'UTC')).toBe('15 Nov 2026, 21:00:05 UTC');
  });

  it('names no seconds where they say nothing', () => {
    expect(moment('2026-11-15T21:00:05.000Z', 'UTC')).toBe('15 Nov 2026, 21:00');
  });

  it('shows what is no time as it came', () => {
    expect(absolute('soon')).toBe('soon');
    expect([second('2026-11-15T21:00:05.000Z', 'UTC'), second('soon')]).toEqual(['15 Nov 2026, 21:00:05', 'soon']);
    expect(moment('soon')).toBe('soon');
  });
});

describe('a moment for who reads it elsewhere', () => {
  it.each([
    ['UTC', '2026-11-17T07:27:00Z', '17 Nov 2026, 07:27 UTC'],
    ['America/New_York', '2026-11-17T07:27:00Z', '17 Nov 2026, 02:27 GMT-5 (07:27 UTC)'],
    ['America/New_York', '2026-11-17T01:27:00Z', '16 Nov 2026, 20:27 GMT-5 (17 Nov 2026, 01:27 UTC)'],
    ['Europe/Berlin', '2026-07-17T07:27:00Z', '17 Jul 2026, 09:27 CEST (07:27 UTC)'],
    ['Europe/London', '2026-11-17T07:27:00Z', '17 Nov 2026, 07:27 UTC'],
    ['UTC', 'soon', 'soon'],
  ])('has its zone: %s, %s', (zone, iso, text) => {
    expect(zoned(iso, zone)).toBe(text);
  });
});

describe('grouped', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1_204, '1 204'],
    [1_234_567, '1 234 567'],
    [-1_204, '-1 204'],
  ])('writes %d as %s', (value, text) => {
    expect(plain(grouped(value))).toBe(text);
  });
});

describe('skew', () => {
  it('is silent within two seconds', () => {
    expect(skew(10_000, 12_000)).toBeNull();
    expect(skew(12_000, 10_000)).toBeNull();
    expect(skew(Number.NaN, 10_000)).toBeNull();
  });

  it('says which clock is ahead', () => {
    expect(plain(skew(10_000, 13_500))).toBe('3 s ahead of the server');
    expect(plain(skew(100_000, 10_000))).toBe('1 min behind the server');
  });
});

describe('since when something lasts', () => {
  const then = Date.parse('2026-11-15T21:00:05.000Z');

  it.each([
    [3_600_000, '21:00:05'],
    [3 * 3_600_000, '15 Nov 2026, 21:00'],
  ])('%i ms later it is %s', (after, text) => {
    expect(sinceTime(then, then + after, 'UTC')).toBe(text);
  });
});
