import { describe, expect, it } from 'vitest';
import type { UptimeWindow } from './api/services';
import { percent, worked } from './uptime';

describe('a part in percent', () => {
  it.each([
    [1, '100 %'],
    [0.99999, '99.99 %'],
    [0.9991, '99.91 %'],
    [0.5, '50.00 %'],
    [0, '0.00 %'],
    [1.2, '100 %'],
    [Number.NaN, '–'],
  ])('%d', (part, text) => {
    expect(percent(part).replace('\u00a0', ' ')).toBe(text);
  });
});

describe('how long something worked', () => {
  const window = (more: Partial<UptimeWindow>): UptimeWindow => ({
    window: '24h',
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-02T00:00:00Z',
    healthy_ms: 0,
    degraded_ms: 0,
    down_ms: 0,
    unknown_ms: 0,
    skipped_ms: 0,
    absent_ms: 0,
    uptime: 1,
    unknown: 0,
    ...more,
  });
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');

  it('says nothing more where all was well and known', () => {
    expect(worked(window({}))).toEqual({ window: '24\u00a0h', figure: '100\u00a0%', bad: '', gaps: '', thin: false });
  });

  it('says what was not well, and what is not known', () => {
    const told = worked(window({ uptime: 0.9, down_ms: 240_000, degraded_ms: 500, unknown_ms: 90_000, absent_ms: 7_200_000 }));
    expect(plain(told.bad)).toBe('down 4 min, degraded under 1 s');
    expect(plain(told.gaps)).toBe('Nobody knows of 1 min. It was not there yet for 2 h of it.');
  });

  it('says little of a span that is mostly before its time', () => {
    const hours = (count: number) => worked(window({ absent_ms: count * 3_600_000 })).thin;
    expect([hours(1), hours(23)]).toEqual([false, true]);
  });

  it('has no number where nothing is known', () => {
    expect(worked(window({ uptime: null })).figure).toBe('–');
  });
});
