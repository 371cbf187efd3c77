import { describe, expect, it } from 'vitest';
import type { UptimeWindow } from './api/services';
import { percent, spans, worked } from './uptime';

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
    expect(worked(window({}))).toEqual({ window: '24\u00a0h', figure: '100\u00a0%', bad: '', gaps: '' });
  });

  it('says what was not well, and what is not known', () => {
    const told = worked(window({ uptime: 0.9, down_ms: 240_000, degraded_ms: 500, unknown_ms: 90_000, absent_ms: 7_200_000 }));
    expect(plain(told.bad)).toBe('down 4 min, degraded under 1 s');
    expect(plain(told.gaps)).toBe('Nobody knows of 1 min. It was not there yet for 2 h of it.');
  });

  it('tells spans that reach back before what is known once, by since when that is', () => {
    const day = (days: number, name: string, uptime: number) =>
      window({ window: name, to: '2026-01-09T12:00:00Z', from: new Date(Date.parse('2026-01-09T12:00:00Z') - days * 86_400_000).toISOString(), uptime, absent_ms: 5_000, unknown_ms: 90_000 });
    const windows = [day(1, '24h', 0.9), day(7, '7d', 0.8), day(30, '30d', 0.7), day(90, '90d', 0.7)];
    const told = (known_since: string) =>
      spans({ known_since, windows }, Date.parse('2026-01-09T12:00:00Z'), 'UTC').map(({ window, figure, gaps }) => plain(`${window}: ${figure} ${gaps}`));
    expect(told('2026-01-01T00:00:00Z').slice(-1)).toEqual(['since 1 Jan 2026, 00:00: 70.00 % Nobody knows of 1 min.']);
    expect(told('2026-01-01T00:00:00Z')).toHaveLength(3);
    expect(told('2026-01-09T11:50:00Z')).toEqual(['since 11:50:00: 90.00 % Nobody knows of 1 min.']);
    expect(told('2025-01-01T00:00:00Z')).toHaveLength(4);
    // Known for a day and an hour: the day says it all.
    expect(told('2026-01-08T11:00:00Z')).toHaveLength(1);
  });

  it('has no number where nothing is known', () => {
    expect(worked(window({ uptime: null })).figure).toBe('–');
  });
});
