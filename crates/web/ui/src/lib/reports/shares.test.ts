import { expect, it } from 'vitest';
import { DEFAULT_EXPIRY, EXPIRIES, refusedShare, shareStanding } from './shares';

const NOW = Date.parse('2026-11-15T22:00:00Z');
const share = { id: '1', created_at: '', expires_at: '2026-11-16T22:00:00Z', revoked_at: null };

it('tells an open link from one that is over', () => {
  expect(shareStanding(share, NOW)).toBe('open');
  expect(shareStanding({ ...share, expires_at: '2026-11-15T22:00:00Z' }, NOW)).toBe('expired');
  expect(shareStanding({ ...share, revoked_at: '2026-11-15T21:00:00Z' }, NOW)).toBe('revoked');
});

it('says of a revoked link something else than of an unknown one', () => {
  expect(refusedShare(410)?.title).toContain('taken back');
  expect(refusedShare(404)?.title).toContain('no report');
  expect(refusedShare(500)).toBeNull();
  expect(refusedShare(null)).toBeNull();
});

it('offers only what the server takes', () => {
  const seconds = EXPIRIES.map(({ value }) => Number(value));
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(60);
  expect(Math.max(...seconds)).toBeLessThanOrEqual(7_776_000);
  expect(EXPIRIES.some(({ value }) => value === DEFAULT_EXPIRY)).toBe(true);
});
