import { describe, expect, it } from 'vitest';
import type { Change } from './api/activity';
import { changedAt, clock, days, subject } from './activity';
import { format } from './route';

const change = (id: string, at: string, more: Partial<Change> = {}): Change => ({
  id,
  at,
  service_id: '0a',
  service_name: 'Orders',
  dependency_id: null,
  dependency_name: null,
  canonical_name: null,
  previous: 'healthy',
  current: 'down',
  ...more,
});

describe('changes', () => {
  const now = Date.parse('2026-11-16T00:30:00Z');

  it('stand under the days on which they were', () => {
    const all = [
      change('5', '2026-11-16T00:20:00.000Z'),
      change('4', '2026-11-15T23:59:00.000Z'),
      change('3', '2026-11-15T01:00:00.000Z'),
      change('2', '2026-11-13T12:00:00.000Z'),
    ];
    const told = days(all, now, 'UTC').map(({ title, changes }) => [title, changes.map(({ id }) => id).join()]);
    expect(told).toEqual([
      ['Today', '5'],
      ['Yesterday', '4,3'],
      ['Friday, 13 November 2026', '2'],
    ]);
    expect(days(all.slice(0, 2), now, 'Europe/Berlin').map(({ title }) => title)).toEqual(['Today']);
    expect(days([], now)).toEqual([]);
  });

  it('tell the time of day', () => {
    expect(clock('2026-11-16T00:20:05.000Z', 'UTC')).toBe('00:20:05');
    expect(clock('never')).toBe('never');
  });

  it('name what changed and lead there', () => {
    const db = change('1', '', { dependency_id: '0d', dependency_name: 'db' });
    expect(subject(db)).toEqual({ name: 'db', of: 'Orders', as: null });
    const named = { ...db, canonical_name: 'Orders database' };
    expect(subject(named)).toEqual({ name: 'Orders database', of: 'Orders', as: 'db' });
    expect(subject(change('1', ''))).toEqual({ name: 'Orders', of: null, as: null });
    expect(format(changedAt(db))).toBe('/services/0a?row=0d&inspector=open');
    expect(format(changedAt(change('1', '')))).toBe('/services/0a');
  });
});
