import { describe, expect, it } from 'vitest';
import { isoOf, judge, localOf, MAX_WINDOW_S, recentText, windowText, zonedWindow } from './window';

const NOW = Date.parse('2026-11-15T22:00:00Z');
const at = (ms: number) => new Date(NOW + ms).toISOString();

describe('the time of an incident', () => {
  it.each([
    [undefined, undefined],
    ['', ''],
    ['soon', undefined],
  ])('is none for %s and %s', (from, to) => {
    expect(judge(from, to, NOW)).toEqual({ kind: 'none' });
  });

  it('is taken when it has passed', () => {
    expect(judge(at(-3_600_000), at(0), NOW)).toEqual({
      kind: 'fit',
      window: { from: at(-3_600_000), to: at(0) },
    });
    expect(judge(at(-MAX_WINDOW_S * 1_000), at(0), NOW).kind).toBe('fit');
  });

  it.each([
    [undefined, at(-1), 'from', 'began'],
    [at(-1), undefined, 'to', 'ended'],
    [at(-1), at(-1), 'to', 'after'],
    [at(-1), at(-2), 'to', 'after'],
    [at(-1), at(60_000), 'to', 'future'],
    [at(-MAX_WINDOW_S * 1_000 - 1), at(0), 'to', '7 days'],
  ])('is refused for %s and %s', (from, to, field, says) => {
    const judged = judge(from, to, NOW);
    expect(judged).toMatchObject({ kind: 'wrong', field });
    expect(judged.kind === 'wrong' && judged.problem).toContain(says);
  });

  it('goes into a field and back by the minute', () => {
    const iso = '2026-11-15T21:04:00.000Z';
    expect(isoOf(localOf(iso))).toBe(iso);
    expect(localOf(undefined)).toBe('');
    expect(localOf('soon')).toBe('');
    expect(isoOf('')).toBe('');
    expect(isoOf('2026-13-45T99:99')).toBe('');
  });

  it('is said shorter when it was just now', () => {
    const text = (from: string, to: string) => recentText({ from, to }, NOW, 'UTC');
    expect(text('2026-11-15T21:00:00Z', '2026-11-15T21:40:00Z')).toBe('Today, 21:00 – 21:40');
    expect(text('2026-11-14T23:50:00Z', '2026-11-15T00:10:00Z')).toBe('Yesterday, 23:50 – Today, 00:10');
    expect(text('2026-11-12T21:00:00Z', '2026-11-12T21:40:00Z')).toBe('12 Nov 2026, 21:00 – 21:40');
  });

  it('is said with its second day only where it has one', () => {
    const text = (from: string, to: string) => windowText({ from, to }, 'UTC');
    expect(text('2026-11-15T21:00:00Z', '2026-11-15T21:40:00Z')).toBe('15 Nov 2026, 21:00 – 21:40');
    expect(text('2026-11-15T21:00:00Z', '2026-11-16T01:40:00Z')).toBe(
      '15 Nov 2026, 21:00 – 16 Nov 2026, 01:40',
    );
    expect(zonedWindow({ from: '2026-07-15T21:00:00Z', to: '2026-07-15T21:40:00Z' }, 'Europe/Berlin')).toBe(
      '15 Jul 2026, 23:00 – 23:40 CEST',
    );
  });
});
