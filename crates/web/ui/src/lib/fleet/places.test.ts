import { expect, it } from 'vitest';
import type { Place } from '../api/locations';
import { agreement, keyOf, lookText } from './places';

const place = (status: string, more: Partial<Place> = {}): Place => ({
  worker_id: 'w1',
  worker: 'fra-1',
  region: 'fra',
  net_id: 'n1',
  net: 'shop-fra',
  status,
  since: '2026-11-17T03:00:00.000Z',
  checked_at: null,
  latency_ms: null,
  error: null,
  ...more,
});

it('says whether all places agree', () => {
  expect(agreement([])).toBe('not known from anywhere');
  expect(agreement([place('unknown')])).toBe('not known from anywhere');
  expect(agreement([place('healthy'), place('healthy')])).toBe('healthy from all 2 places');
  expect(agreement([place('down'), place('unknown')])).toBe('down from 1 of 2 places');
  expect(agreement([place('healthy'), place('down'), place('healthy')])).toBe('healthy from 2 of 3 places');
  expect(agreement([place('degraded'), place('down')])).toBe('healthy from 0 of 2 places');
});

it('tells places apart, and says what looks', () => {
  const here = place('healthy', { worker_id: null, net_id: null, net: null });
  const journey = place('healthy', { kind: 'journey', check: 'buy' });
  expect(new Set([here, place('healthy'), journey].map(keyOf)).size).toBe(3);
  expect([here, place('healthy'), journey].map(lookText)).toEqual(['the server itself', 'shop-fra', 'shop-fra, journey buy']);
});
