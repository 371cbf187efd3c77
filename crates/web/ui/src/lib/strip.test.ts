import { describe, expect, it } from 'vitest';
import { boxes, cellAfter, cellAt, cellText, latest, sparkline, sparkText, stripText } from './strip';

describe('the cells of a strip', () => {
  it('stand as high as their status says, and down is notched', () => {
    const drawn = boxes(['healthy', 'degraded', 'down', 'unknown', null], 15, 20);
    expect(drawn.map(({ status, x, y, width, height }) => [status, x, y, width, height])).toEqual([
      ['healthy', 0, 0, 2, 20],
      ['degraded', 3, 8, 2, 12],
      ['down', 6, 0, 2, 20],
      ['unknown', 9, 14, 2, 6],
    ]);
    expect(drawn.map(({ notch }) => notch)).toEqual([null, null, { y: 9, height: 3 }, null]);
  });

  it('fill the width to the last pixel, however it divides', () => {
    const drawn = boxes(Array.from({ length: 60 }, () => 'healthy' as const), 325, 10);
    const last = drawn.at(-1);
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBe(324);
    expect(Math.min(...drawn.map(({ width }) => width))).toBeGreaterThanOrEqual(4);
  });

  it.each([
    [0, 0],
    [0.5, 30],
    [1, 59],
    [-1, 0],
    [2, 59],
  ])('at %f is %i', (share, at) => {
    expect(cellAt(share, 60)).toBe(at);
  });

  it('have names that can be read out', () => {
    const strip = {
      from: Date.parse('2026-01-01T10:00:00Z'),
      cellMs: 1_440_000,
      cells: [null, 'degraded', 'healthy'] as const,
      p95: [],
    };
    expect(cellText(strip, 0, 'UTC')).toBe('10:00 to 10:24: not watched yet');
    expect(cellText(strip, 1, 'UTC')).toBe('10:24 to 10:48: degraded');
    expect(cellText(strip, 2, 'UTC')).toBe('10:48 to now: healthy');
  });

  it.each([
    [[null, null], 'last 24 h: not watched yet'],
    [[null, 'healthy'], 'last 24 h: healthy all the time'],
    [['healthy', 'down', 'down', 'degraded'], 'last 24 h: down in 2, degraded in 1, healthy in 1 of 4 parts'],
  ] as const)('%j says %s', (cells, text) => {
    expect(stripText({ cells })).toBe(text);
  });
});

describe('the sparkline', () => {
  it('is broken where nothing was reported', () => {
    expect(sparkline([10, 20, null, 5], 30, 10)).toEqual([
      [{ x: 0, y: 6 }, { x: 10, y: 2 }],
      [{ x: 30, y: 8 }],
    ]);
    expect(sparkline([null, null], 30, 10)).toEqual([]);
  });

  it('is told in words', () => {
    expect(sparkText([null, 12, 80])).toBe('p95 over the last 24 h: 12.0\u00a0ms to 80.0\u00a0ms');
    expect(sparkText([null])).toBe('no latency was reported in the last 24 h');
  });
});

it('keeps the latest, and those that are looked at', () => {
  const kept = new Map([['a', 1], ['b', 1], ['c', 1]]);
  const after = latest(kept, [['d', 2], ['c', 2]], 3, new Set(['a']));
  expect([...after]).toEqual([['a', 1], ['d', 2], ['c', 2]]);
});

describe('a key on a strip', () => {
  it.each([
    ['ArrowLeft', null, 59],
    ['ArrowLeft', 59, 58],
    ['ArrowLeft', 0, 0],
    ['ArrowRight', null, 59],
    ['ArrowRight', 3, 4],
    ['ArrowRight', 59, 59],
    ['Home', 30, 0],
    ['End', 30, 59],
    ['Escape', 30, null],
    ['Escape', null, undefined],
    ['ArrowDown', 30, undefined],
  ])('%s from %j leads to %j', (key, at, to) => {
    expect(cellAfter(key, at, 60)).toBe(to);
  });
});
