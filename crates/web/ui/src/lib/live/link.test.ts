import { describe, expect, it } from 'vitest';
import {
  begin,
  connect,
  HANDOVER_MS,
  heard,
  isDue,
  isSilent,
  JITTER,
  lightOf,
  lost,
  opened,
  RETRY_LIMIT_MS,
  signedOut,
  SILENCE_MS,
  superseded,
  told,
  type Link,
} from './link';

const T0 = 1_000_000;
const open = opened(begin(T0), T0);
/** The last failure is of ten seconds later. */
const often = lost([1, 2, 3, 4].reduce((link) => lost(link, T0, 0), open), T0 + 10_000, 0);
const seenUntil = (link: Link) => (link.phase.kind === 'waiting' ? (link.phase.seenUntil ?? 0) - T0 : null);
const until = (link: Link) => (link.phase.kind === 'waiting' ? link.phase.until - T0 : null);

describe('the light', () => {
  it.each<[string, Link | null, number, object]>([
    ['nothing known', null, 0, { kind: 'connecting' }],
    ['the first try', begin(T0), 5_000, { kind: 'connecting' }],
    ['open', open, 0, { kind: 'live' }],
    ['open and quiet', open, SILENCE_MS, { kind: 'live' }],
    ['open and silent', open, SILENCE_MS + 2_000, { kind: 'stale', seconds: 12, since: T0 }],
    ['a sign of life in between', heard(open, T0 + 4_000), SILENCE_MS + 2_000, { kind: 'live' }],
    ['just lost', lost(open, T0, 0), 0, { kind: 'reconnecting', seconds: 1 }],
    ['lost and overdue', lost(open, T0, 0), SILENCE_MS, { kind: 'reconnecting', seconds: 0 }],
    ['lost for long', lost(open, T0, 0), 41_000, { kind: 'stale', seconds: 41, since: T0, next: 0 }],
    ['lost often', often, 11_000, { kind: 'stale', seconds: 11, since: T0, next: 3 }],
    ['tried for long', connect(often, T0 + 11_000), 11_000, { kind: 'stale', seconds: 11, since: T0, next: 0 }],
    ['tried again', connect(lost(open, T0, 0), T0), 0, { kind: 'reconnecting', seconds: 0 }],
    ['never there', lost(begin(T0), T0, 0), 90_000, { kind: 'reconnecting', seconds: 0 }],
    ['passed on', connect(open, T0), HANDOVER_MS - 1, { kind: 'live' }],
    ['passed on slowly', connect(open, T0), HANDOVER_MS, { kind: 'reconnecting', seconds: 0 }],
    ['superseded', superseded(open, T0), 90_000, { kind: 'superseded', since: T0 }],
    ['taken over', connect(superseded(open, T0), T0 + 90_000), 90_000, { kind: 'connecting' }],
    ['a clock set back', open, -3_600_000, { kind: 'live' }],
  ])('of %s', (_name, link, after, light) => {
    expect(lightOf(link, T0 + after)).toEqual(light);
  });

  const waiting = lost(begin(T0), T0 + SILENCE_MS + 1, 0);
  it.each<[string, Link | null, number, object]>([
    ['nobody tells of', null, SILENCE_MS + 2_000, { kind: 'stale', seconds: 12, since: T0 }],
    ['nobody tells of yet', null, SILENCE_MS, { kind: 'connecting' }],
    ['hangs at the first try', begin(T0), SILENCE_MS, { kind: 'connecting' }],
    ['hung at the first try', waiting, SILENCE_MS + 500, { kind: 'stale', seconds: 10, since: T0, next: 1 }],
    ['was tried in vain for long', connect(waiting, T0 + 90_000), 90_000, { kind: 'stale', seconds: 90, since: T0, next: 0 }],
    ['breaks before anything comes', lost(begin(T0), T0, 0), 0, { kind: 'reconnecting', seconds: 1 }],
    ['another browser has', superseded(open, T0), 90_000, { kind: 'superseded', since: T0 }],
    ['was heard later', heard(open, T0 + 80_000), 90_000, { kind: 'live' }],
  ])('of one that %s, beside what was read at its beginning', (_name, link, after, light) => {
    expect(lightOf(link, T0 + after, T0)).toEqual(light);
  });
});

describe('a lost connection', () => {
  it('waits longer with each failure', () => {
    let link = open;
    const waits = Array.from({ length: 6 }, () => until((link = lost(link, T0, 0))));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  it('waits five seconds at most where somebody looks at it', () => {
    let link = open;
    const waits = Array.from({ length: 6 }, () => seenUntil((link = lost(link, T0, 0))));
    expect(waits).toEqual([1_000, 2_000, 4_000, 4_000, 4_000, 4_000]);
    expect(seenUntil(lost(link, T0, 1))).toBe(5_000);
    // What the server asked for holds for everybody.
    expect(seenUntil(lost(told(open, 9_000), T0, 0))).toBe(9_000);
    expect(seenUntil(lost(link, T0, 0, 20_000))).toBe(20_000);
  });

  it('waits at first as long as the server asked, and once', () => {
    const first = lost(told(open, 2_500), T0, 0);
    expect(until(first)).toBe(2_500);
    expect(until(lost(first, T0, 0))).toBe(2_000);
    expect(until(lost(told(open, 3_600_000), T0, 0))).toBe(RETRY_LIMIT_MS);
  });

  it('waits at least as long as a refusal asked, within reason', () => {
    expect(until(lost(open, T0, 0, 20_000))).toBe(20_000);
    expect(until(lost(open, T0, 0, 86_400_000))).toBe(RETRY_LIMIT_MS);
  });

  it('does not come back together with others', () => {
    expect(until(lost(open, T0, 1))).toBe(1_000 * (1 + JITTER));
  });

  it('begins anew once it was open', () => {
    expect(opened(lost(lost(open, T0, 0), T0, 0), T0).failures).toBe(0);
  });
});

describe('what is due', () => {
  it.each<[string, Link, number, boolean]>([
    ['before its time', lost(open, T0, 0), 999, false],
    ['at its time', lost(open, T0, 0), 1_000, true],
    ['with a clock set back', lost(open, T0, 0), -3_600_000, true],
    ['while open', open, 90_000, false],
    ['while superseded', superseded(open, T0), 90_000, false],
    ['while signed out', signedOut(open), 90_000, false],
  ])('%s', (_name, link, after, due) => {
    expect(isDue(link, T0 + after)).toBe(due);
  });

  it.each([
    ['before its time', 13_999, false],
    ['at its time', 14_000, true],
  ])('is sooner due where somebody looks at it: %s', (_name, after, due) => {
    expect(isDue(often, T0 + after, true)).toBe(due);
    expect(isDue(often, T0 + after)).toBe(false);
  });

  it('is due as ever where the holder is of an older version', () => {
    const old: Link = { ...open, phase: { kind: 'waiting', until: T0 + 8_000 } };
    expect([7_999, 8_000].map((after) => isDue(old, T0 + after, true))).toEqual([false, true]);
  });

  it.each<[string, Link, number, boolean]>([
    ['heard lately', open, SILENCE_MS, false],
    ['not heard', open, SILENCE_MS + 1, true],
    ['asleep with the lid closed', open, 8 * 3_600_000, true],
    ['hanging before an answer', begin(T0), SILENCE_MS + 1, true],
    ['waiting', lost(open, T0, 0), 90_000, false],
    ['superseded', superseded(open, T0), 90_000, false],
  ])('is silent or not: %s', (_name, link, after, silent) => {
    expect(isSilent(link, T0 + after)).toBe(silent);
  });
});
