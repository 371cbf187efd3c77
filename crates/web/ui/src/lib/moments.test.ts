import { describe, expect, it } from 'vitest';
import type { Moment } from './api/activity';
import { followersText, pathOf, unstableText } from './moments';

const told = (path: Moment['path'], followers: string[], follower_count = followers.length) =>
  followersText({ path, followers, follower_count }).replace(/[⁦-⁩]/gu, '');

describe('a moment', () => {
  it('tells who followed in a few words, and how many', () => {
    expect(told(['healthy', 'down'], [])).toBe('');
    expect(told(['healthy', 'down'], ['A', 'B'])).toBe('2 because of it: A, B');
    expect(told(['healthy', 'degraded', 'down'], ['A', 'B', 'C', 'D', 'E'], 11)).toBe('11 because of it: A, B, C and 8 more');
    expect(told(['down', 'degraded', 'healthy'], ['A'])).toBe('1 more changed with it: A');
    expect(told(['down', 'degraded'], ['A'])).toBe('1 more changed with it: A');
    expect(told(['healthy', 'unknown'], ['A'])).toBe('1 more changed with it: A');
  });

  it('tells everything that was, in its order', () => {
    expect(pathOf({ path: ['healthy', 'degraded', 'down'] })).toEqual({ before: ['healthy', 'degraded'], after: 'down' });
    expect(pathOf({ path: [null, 'down'] })).toEqual({ before: ['new'], after: 'down' });
  });
});

describe('what is unstable', () => {
  const NOW = Date.parse('2026-11-17T04:00:00.000Z');
  const moment = (minutes: number, path: Moment['path'], id = 'external:sms') => ({
    at: new Date(NOW - minutes * 60_000).toISOString(),
    path,
    nodes: [{ id, name: id, kind: 'external' as const }],
  });
  const said = (...moments: ReturnType<typeof moment>[]) => unstableText({ nodes: [{ id: 'external:sms' }] }, moments, NOW);
  const flaps = (count: number) =>
    Array.from({ length: count }, (_, at) => [moment(at * 4 + 1, ['healthy', 'degraded', 'down']), moment(at * 4 + 3, ['down', 'healthy'])]).flat();

  it('failed more than twice in an hour, whatever came of others', () => {
    expect(said(...flaps(3))).toBe('failed 3 times in the last hour');
    expect(said(...flaps(2), moment(20, ['healthy', 'down'], 'other'))).toBeNull();
    expect(said(...flaps(2), moment(61, ['healthy', 'down']))).toBeNull();
  });

  it('is not what only gets worse, or was not known', () => {
    expect(said(moment(1, ['degraded', 'down']), moment(2, ['unknown', 'degraded']), moment(3, [null, 'degraded']))).toBeNull();
  });

  it('counts each fall of one moment, and says that there may be more', () => {
    expect(said(moment(1, ['healthy', 'down', 'healthy', 'down', 'healthy', 'degraded']))).toBe('failed 3 times in the last hour');
    expect(said(...flaps(5))).toBe('failed at least 5 times in the last hour');
  });
});
