import { describe, expect, it } from 'vitest';
import { BEHIND_LIMIT_MS, follow, NEW, overdue, type Follower } from './follow';
import { begin, opened } from './link';
import type { Frame, LiveEvent, Told } from './messages';
import { parsePosition, type Position } from './position';

const T0 = 1_000_000;
const link = opened(begin(T0), T0);

function at(id: string): Position {
  const position = parsePosition(id);
  if (position === null) throw new Error(id);
  return position;
}

const event = (seq: number): LiveEvent => ({ type: 'x', seq, stream: 'org', at: '' });
const step = (before: string | null, to: string, seq: number | null, reset = false): Frame => ({
  before: before === null ? null : at(before),
  to: at(to),
  event: seq === null ? null : event(seq),
  reset,
});
const frames = (...given: Frame[]): Told => ({ kind: 'frames', term: 't', at: T0, frames: given });
const state = (position: string | null, term = 't'): Told => ({
  kind: 'state',
  term,
  link,
  position: position === null ? null : at(position),
});
const standing = (id: string | null): Follower => ({
  ...NEW,
  term: 't',
  link,
  position: id === null ? null : at(id),
});

describe('a tab that hears', () => {
  const chain = [step('a.1.0', 'a.2.0', 2), step('a.2.0', 'a.2.1', 1), step('a.2.1', 'a.3.1', 3)];
  const otherwise = [
    step('a.1.1', 'a.2.1', 2),
    step('a.2.1', 'a.3.1', 3),
    step('a.3.1', 'a.3.2', 2),
  ];

  it.each<
    [string, string | null, Told, { seqs?: number[]; to?: string; reload?: string; hello?: boolean }]
  >([
    ['what follows', 'a.1.0', frames(...chain), { seqs: [2, 1, 3], to: 'a.3.1' }],
    ['half of what it has', 'a.2.0', frames(...chain), { seqs: [1, 3], to: 'a.3.1' }],
    ['nothing it has not', 'a.3.1', frames(...chain), { to: 'a.3.1' }],
    ['the streams in another order', 'a.2.3', frames(...otherwise), { seqs: [3], to: 'a.3.3' }],
    ['a hole', 'a.0.0', frames(...chain), { to: 'a.0.0', hello: true }],
    [
      'something for the first time',
      null,
      frames(...chain),
      { seqs: [2, 1, 3], to: 'a.3.1', reload: 'joined' },
    ],
    ['where others stand', null, state('a.3.1'), { to: 'a.3.1', reload: 'joined' }],
    ['that nothing is known yet', null, state(null), {}],
    ['a state it knows', 'a.3.1', state('a.3.1'), { to: 'a.3.1' }],
    ['a state behind its own', 'a.3.1', state('a.2.1'), { to: 'a.3.1' }],
    ['a state ahead of its own', 'a.1.0', state('a.3.1'), { to: 'a.1.0', hello: true }],
    ['of a new holder', 'a.3.1', state('a.3.1', 'other'), { to: 'a.3.1', hello: true }],
    ['of a new holder that knows nothing', 'a.3.1', state(null, 'other'), { to: 'a.3.1', hello: true }],
    ['of another epoch', 'a.9.9', state('b.1.0'), { to: 'b.1.0', reload: 'reset' }],
    ['frames of another epoch', 'a.9.9', frames(step('b.1.0', 'b.2.0', 2)), { to: 'b.2.0', reload: 'reset' }],
    ['a reset', 'a.9.9', frames(step('a.9.9', 'b.4.0', null, true)), { to: 'b.4.0', reload: 'reset' }],
    [
      'a reset to before',
      'a.9.9',
      frames(step('a.9.9', 'a.4.0', null, true)),
      { to: 'a.4.0', reload: 'reset' },
    ],
    ['a start that others made', 'a.2.0', frames(step(null, 'a.3.0', null)), { to: 'a.2.0', hello: true }],
    ['a start that it knows', 'a.3.0', frames(step(null, 'a.3.0', null)), { to: 'a.3.0' }],
    ['that only the place moved', 'a.2.0', frames(step('a.2.0', 'a.7.0', null)), { to: 'a.7.0' }],
  ])('%s', (_name, from, told, expected) => {
    const taken = follow(standing(from), told, T0);
    expect(taken.events.map(({ seq }) => seq)).toEqual(expected.seqs ?? []);
    expect(taken.follower.position).toEqual(expected.to === undefined ? null : at(expected.to));
    expect(taken.reload).toBe(expected.reload ?? null);
    expect(taken.hello).toBe(expected.hello ?? false);
  });

  it('takes what it can before a hole', () => {
    const told = frames(step('a.1.0', 'a.2.0', 2), step('a.3.0', 'a.4.0', 4));
    const taken = follow(standing('a.1.0'), told, T0);
    expect(taken.events).toEqual([event(2)]);
    expect(taken.follower).toMatchObject({ position: at('a.2.0'), behindSince: T0 });
  });

  it('says once that something is missing, until it came', () => {
    const hole = frames(step('a.3.0', 'a.4.0', 4));
    const first = follow(standing('a.1.0'), hole, T0);
    expect(first.hello).toBe(true);
    const second = follow(first.follower, hole, T0 + 1);
    expect(second.hello).toBe(false);
    const healed = follow(second.follower, frames(step('a.1.0', 'a.2.0', 2)), T0 + 2);
    expect(healed.follower.behindSince).toBeNull();
    expect(follow(healed.follower, hole, T0 + 3).hello).toBe(true);
  });

  it('knows by what came that the connection lives', () => {
    const told: Told = { kind: 'frames', term: 't', at: T0 + 9_000, frames: [] };
    expect(follow(standing('a.1.0'), told, T0).follower.link?.heardAt).toBe(T0 + 9_000);
  });
});

describe('a tab that misses something', () => {
  const behind = { ...standing('a.1.0'), behindSince: T0 };

  it('waits for it, and then reads everything again', () => {
    expect(overdue(behind, T0 + BEHIND_LIMIT_MS)).toBeNull();
    const step = overdue(behind, T0 + BEHIND_LIMIT_MS + 1);
    expect(step).toMatchObject({ reload: 'reset', hello: true });
    expect(step?.follower).toMatchObject({ position: null, behindSince: null });
  });

  it('is not overdue when nothing is missing', () => {
    expect(overdue(standing('a.1.0'), T0 + 1e9)).toBeNull();
  });
});
