import { describe, expect, it } from 'vitest';
import { backoff, fail, isDue, knownUntil, lesser, light, start, succeed, type Light } from './connection';

const T0 = 1_000_000;

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
    const failing = fail(fail(succeed(T0), T0 + 15_000), T0 + 41_000);
    expect(light(failing, T0 + 42_000)).toEqual({ kind: 'stale', seconds: 42, since: T0 });
  });

  it('counts down to the next try after a failure', () => {
    const failing = fail(fail(fail(succeed(T0), T0), T0), T0);
    expect(light(failing, T0 + 1_000)).toEqual({ kind: 'reconnecting', seconds: 3 });
    expect(light(failing, T0 + 9_000)).toEqual({ kind: 'reconnecting', seconds: 0 });
  });

  it('never calls an empty screen stale', () => {
    const failing = fail(start(T0), T0);
    expect(light(failing, T0 + 120_000).kind).toBe('reconnecting');
  });

  it('comes back to live with the first success', () => {
    expect(light(succeed(T0 + 90_000), T0 + 90_000)).toEqual({ kind: 'live' });
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
    [stale, longer, longer],
    [live, live, live],
  ])('%o and %o, the one that promises less is shown', (one, other, shown) => {
    expect(lesser(one, other)).toEqual(shown);
    expect(lesser(other, one)).toEqual(shown);
  });
});
