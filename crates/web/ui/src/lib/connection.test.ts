import { describe, expect, it } from 'vitest';
import {
  backoff,
  fail,
  isDue,
  knownUntil,
  lesser,
  light,
  lightOfNetwork,
  lightOfServer,
  lightOfShown,
  SEEN_LIMIT_MS,
  STALE_AFTER_MS,
  start,
  succeed,
  trustText,
  type Light,
} from './connection';

const T0 = 1_000_000;

describe('what is not to be trusted', () => {
  it.each<[Light, string | null]>([
    [{ kind: 'live' }, null],
    [{ kind: 'reconnecting', seconds: 3 }, null],
    [{ kind: 'stale', seconds: 42, since: T0 }, 'Old data since 00:16:40: do not trust what you see'],
    [{ kind: 'superseded', since: T0 }, 'Another browser of yours is live since 00:16:40. This one reads every 15 s'],
  ])('is told of %o', (light, text) => {
    expect(trustText(light, T0 + 42_000, 'UTC')).toBe(text);
  });
});

describe('the light', () => {
  it('connects before the first data', () => {
    expect(light(start(T0), T0 + 5_000)).toEqual({ kind: 'connecting' });
  });

  it('is live after data, up to thirty seconds', () => {
    expect(light(succeed(T0), T0)).toEqual({ kind: 'live' });
    expect(light(succeed(T0), T0 + 30_000)).toEqual({ kind: 'live' });
  });

  it('is stale after thirty seconds without data, failing or not', () => {
    expect(light(succeed(T0), T0 + 30_001)).toEqual({ kind: 'stale', seconds: 30, since: T0 });
    const failing = fail(fail(succeed(T0), T0 + 15_000, true), T0 + 41_000, true);
    expect(light(failing, T0 + 42_000)).toEqual({ kind: 'stale', seconds: 42, since: T0, next: 1 });
    expect(light(failing, T0 + 50_000)).toMatchObject({ kind: 'stale', next: 0 });
  });

  it('counts down to the next try after a failure', () => {
    const failing = fail(fail(fail(succeed(T0), T0, true), T0, true), T0, true);
    expect(light(failing, T0 + 1_000)).toEqual({ kind: 'reconnecting', seconds: 3 });
    expect(light(failing, T0 + 9_000)).toEqual({ kind: 'reconnecting', seconds: 0 });
  });

  it('never calls an empty screen stale', () => {
    const failing = fail(start(T0), T0, true);
    expect(light(failing, T0 + 120_000).kind).toBe('reconnecting');
  });

  it('comes back to live with the first success', () => {
    expect(light(succeed(T0 + 90_000), T0 + 90_000)).toEqual({ kind: 'live' });
  });
});

describe('the light of what is shown', () => {
  it('is live while it is read, and for a while after', () => {
    expect(lightOfShown(null, T0)).toEqual({ kind: 'live' });
    expect(lightOfShown(T0, T0 + STALE_AFTER_MS)).toEqual({ kind: 'live' });
  });

  it('is stale once it is asked for in vain for too long', () => {
    expect(lightOfShown(T0, T0 + STALE_AFTER_MS + 1)).toEqual({ kind: 'stale', seconds: 30, since: T0 });
  });
});

describe('what is known', () => {
  it.each<[Light, number]>([
    [{ kind: 'live' }, T0],
    [{ kind: 'reconnecting', seconds: 3 }, T0],
    [{ kind: 'superseded', since: T0 - 90_000 }, T0],
    [{ kind: 'stale', seconds: 12, since: T0 - 12_000 }, T0 - 12_000],
  ])('ends where nothing was heard any more: %o', (light, until) => {
    expect(knownUntil(light, T0)).toBe(until);
  });
});

describe('reading', () => {
  it('backs off by 1, 2, 4, 8 and then 15 seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 500].map(backoff)).toEqual([
      1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000,
    ]);
  });

  it.each([
    ['somebody looks', true, [1_000, 2_000, SEEN_LIMIT_MS, SEEN_LIMIT_MS, SEEN_LIMIT_MS]],
    ['nobody looks', false, [1_000, 2_000, 4_000, 8_000, 15_000]],
  ])('waits less where %s', (_, seen, waits) => {
    let connection = succeed(T0);
    const found = waits.map(() => (connection = fail(connection, T0, seen)).nextRead - T0);
    expect(found).toEqual(waits);
  });

  it('is due at once, then every fifteen seconds', () => {
    expect(isDue(start(T0), T0)).toBe(true);
    expect(isDue(succeed(T0), T0 + 14_999)).toBe(false);
    expect(isDue(succeed(T0), T0 + 15_000)).toBe(true);
  });

  it('does not stand still when the clock is set back', () => {
    expect(isDue(succeed(T0), T0 - 3_600_000)).toBe(true);
    expect(light(succeed(T0), T0 - 3_600_000)).toEqual({ kind: 'live' });
  });
});

describe('of two lights', () => {
  const live: Light = { kind: 'live' };
  const superseded: Light = { kind: 'superseded', since: T0 };
  const reconnecting: Light = { kind: 'reconnecting', seconds: 3 };
  const stale: Light = { kind: 'stale', seconds: 42, since: T0 };
  const longer: Light = { kind: 'stale', seconds: 50, since: T0 - 8_000 };

  it.each<[Light, Light, Light]>([
    [live, { kind: 'connecting' }, { kind: 'connecting' }],
    [live, superseded, superseded],
    [superseded, reconnecting, reconnecting],
    [stale, reconnecting, stale],
    [reconnecting, { kind: 'reconnecting', seconds: 9 }, { kind: 'reconnecting', seconds: 9 }],
    [live, live, live],
  ])('%o and %o, the one that promises less is shown', (one, other, shown) => {
    expect(lesser(one, other)).toEqual(shown);
    expect(lesser(other, one)).toEqual(shown);
  });

  it('that are stale, the older one keeps its time', () => {
    expect(lesser(stale, longer)).toEqual(longer);
    expect(lesser(longer, stale)).toEqual(longer);
  });

  it('of one server, silence says since when, and else whatever promises less', () => {
    expect(lightOfServer(stale, longer)).toEqual(stale);
    expect(lightOfServer(live, longer)).toEqual(longer);
    expect(lightOfServer(reconnecting, live)).toEqual(reconnecting);
  });
});

describe('a browser that is offline', () => {
  const live: Light = { kind: 'live' };
  const reconnecting: Light = { kind: 'reconnecting', seconds: 0 };
  const stale: Light = { kind: 'stale', seconds: 12, since: T0 };
  const before = { stream: T0, read: T0 - 9_000 };

  it.each<[string, Light, typeof before | null, { stream: number | null; read: number | null }, Light]>([
    ['has not said so', live, null, before, live],
    ['is believed', live, before, before, reconnecting],
    ['is believed before anything came', { kind: 'connecting' }, { ...before }, before, reconnecting],
    ['hears a server that needs no network', live, before, { ...before, stream: T0 + 4_000 }, live],
    ['reads one that needs no network', live, before, { ...before, read: T0 + 5 }, live],
    ['hears by a clock that was set back', live, before, { ...before, stream: T0 - 3_600_000 }, live],
    ['still counts down', { kind: 'reconnecting', seconds: 3 }, before, before, { kind: 'reconnecting', seconds: 3 }],
    ['is as old as it is', stale, before, before, stale],
  ])('%s', (_, light, offline, heard, shown) => {
    expect(lightOfNetwork(light, offline, heard)).toEqual(shown);
  });
});
