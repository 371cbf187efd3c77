import { describe, expect, it } from 'vitest';
import { node, START, thing, view } from './sample';
import {
  momentAt,
  momentOf,
  momentText,
  notThen,
  partOf,
  played,
  playText,
  spanOf,
  stepped,
  STILL_MS,
  windowAfter,
  windowOf,
  type Speed,
} from './time';
import { circleText, drawnText, nodeText } from './words';
import { fold } from './groups';

const NOW = START;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LAST_HOUR = { from: NOW - HOUR, to: NOW };

describe('the moment of an address', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['yesterday', null],
    [new Date(NOW - 5).toISOString(), NOW - 5],
    [new Date(NOW + 5).toISOString(), null],
  ])('%s', (text, expected) => {
    expect(momentOf(text, NOW)).toBe(expected);
  });

  it.each([
    [undefined, null],
    ['', null],
    [new Date(NOW - 5).toISOString(), null],
    ['yesterday', 'The address named no moment: this is now'],
    [new Date(NOW + 5).toISOString(), 'That moment is still to come: this is now'],
  ])('says why it shows now instead of %s', (text, says) => {
    expect(notThen(text, NOW)).toBe(says);
  });

  it.each([['6h', '6h'], ['9h', '1h'], [undefined, '1h']])('spans %s as %s', (word, span) => {
    expect(spanOf(word)).toBe(span);
  });
});

describe('the window', () => {
  it.each([
    ['now', null, LAST_HOUR],
    ['a moment of the last hour', NOW - MINUTE, LAST_HOUR],
    ['a moment just before it', NOW - HOUR - MINUTE, { from: NOW - 91 * MINUTE, to: NOW - 31 * MINUTE }],
    ['a moment of last week', NOW - 200 * HOUR, { from: NOW - 200.5 * HOUR, to: NOW - 199.5 * HOUR }],
  ])('of %s', (_, moment, expected) => {
    expect(windowOf('1h', moment, NOW)).toEqual(expected);
  });

  it('stays where it is while a hand holds its left end', () => {
    let window = windowAfter(null, '1h', null, NOW);
    let moment = momentAt(0, window, NOW);
    for (let second = 1; second <= 120; second += 1) {
      const now = NOW + second * 1_000;
      window = windowAfter(window, '1h', moment, now);
      moment = momentAt(0, window, now);
    }
    expect([window, moment]).toEqual([LAST_HOUR, NOW - HOUR]);
  });

  it.each([
    ['follows the time', NOW - MINUTE, '1h', NOW + MINUTE, { from: NOW - 59 * MINUTE, to: NOW + MINUTE }],
    ['follows it to now', null, '1h', NOW + HOUR, { from: NOW, to: NOW + HOUR }],
    ['goes with a moment that is not in it', NOW - 3 * HOUR, '1h', NOW, { from: NOW - 3.5 * HOUR, to: NOW - 2.5 * HOUR }],
    ['is another for another span', NOW - HOUR, '6h', NOW + MINUTE, { from: NOW + MINUTE - 6 * HOUR, to: NOW + MINUTE }],
  ] as const)('%s', (_, moment, span, now, expected) => {
    expect(windowAfter(LAST_HOUR, span, moment, now)).toEqual(expected);
  });

  it.each([
    [0, NOW - HOUR],
    [0.5, NOW - HOUR / 2],
    [1, null],
    [1.3, null],
    [-1, NOW - HOUR],
  ])('has a moment at %f', (part, moment) => {
    expect(momentAt(part, LAST_HOUR, NOW)).toBe(moment);
    if (moment !== null) expect(partOf(moment, LAST_HOUR)).toBe(Math.max(part, 0));
  });
});

it.each([
  ['ArrowLeft', false, null, NOW - 10_000],
  ['ArrowLeft', true, NOW - MINUTE, NOW - MINUTE - 100_000],
  ['ArrowLeft', false, NOW - HOUR, NOW - HOUR],
  ['ArrowRight', false, NOW - MINUTE, NOW - 50_000],
  ['ArrowRight', false, NOW - 5_000, null],
  ['ArrowRight', false, null, null],
  ['Home', false, null, NOW - HOUR],
  ['End', false, NOW - MINUTE, null],
  ['x', false, NOW - MINUTE, undefined],
] as const)('%s (shift %s) leads from %s to %s', (key, shift, moment, expected) => {
  expect(stepped(key, shift, moment, '1h', LAST_HOUR, NOW)).toBe(expected);
});

it.each([
  [1, NOW - 9_000],
  [10, NOW],
  [60, NOW],
] as const)('plays ×%i and ends at now', (speed, to) => {
  expect(played(NOW - 10_000, 1_000, speed, NOW, () => null)).toBe(to === NOW ? null : to);
});

describe('play', () => {
  /** Two falls, ten seconds apart, six hours ago. */
  const turns = [NOW - 6 * HOUR, NOW - 6 * HOUR + 10_000];
  const still = (moment: number) => ({
    from: turns.findLast((turn) => turn <= moment) ?? NOW - 24 * HOUR,
    to: turns.find((turn) => turn > moment) ?? Infinity,
  });
  /** How long it takes from one moment to another, in frames as a browser has them. */
  function takes(from: number, to: number, speed: Speed): number {
    const FRAME = 16;
    for (let [moment, took]: [number | null, number] = [from, 0]; ; took += FRAME) {
      moment = played(moment, FRAME, speed, NOW, still);
      if (moment === null || moment >= to) return took + FRAME;
    }
  }

  it('shows a day within seconds, and what happened in it at its own pace', () => {
    expect(takes(NOW - 24 * HOUR, NOW, 10)).toBeLessThan(2 * STILL_MS + 1_200);
    expect(takes(NOW - 24 * HOUR, NOW - 6 * HOUR, 10)).toBeCloseTo(STILL_MS, -2);
    expect(takes(NOW - 6 * HOUR, NOW - 6 * HOUR + 10_000, 10)).toBeCloseTo(1_000, -2);
  });

  it('goes past a change with what is left of a frame', () => {
    expect(played(NOW - 6 * HOUR - 1, 1_000, 10, NOW, still)).toBeLessThan(NOW - 6 * HOUR + 10_000);
    expect(played(NOW - 6 * HOUR, 1_200, 10, NOW, still)).toBeGreaterThan(NOW - 6 * HOUR + 10_000 + 200 * 60);
  });

  it('skips nothing where it goes as it went, and says which it does', () => {
    expect(played(NOW - 20 * HOUR, 1_000, 1, NOW, still)).toBe(NOW - 20 * HOUR + 1_000);
    expect(playText(1)).toBe('Play as it went');
    expect(playText(10)).toBe('Play ×10, skipping ahead where nothing changes');
  });
});

it('tells a moment', () => {
  expect(momentText(NOW - 2 * HOUR, NOW, 'UTC')).toBe('19:00:00, 2\u00a0h ago');
});

describe('what is told of a node', () => {
  const name = (id: string) => ({ id, kind: 'service' as const, name: id, status: 'down' as const });
  const cause = { nodes: [name('Ledger')], node_count: 1, since: null, hurts: 7, affected: 7, contradicted: false };
  const why = { status: 'down' as const, since: new Date(NOW - HOUR).toISOString(), root_causes: [0], root_cause_count: 1 };

  it.each([
    [node('Orders'), [], 'Orders, healthy'],
    [thing('kafka', { status: 'unknown' }), [], 'kafka, external, unknown'],
    [node('Ledger', why), [cause], 'Ledger, down since 20:00:00, root cause, hurts 7 services'],
    [node('Ledger', why), [{ ...cause, hurts: 3, affected: 1, contradicted: true }], 'Ledger, down since 20:00:00, root cause, hurts 1 of 3 services, contradicted'],
    [node('Ledger', why), [{ ...cause, hurts: 0, affected: 0, node_count: 3 }], 'Ledger, down since 20:00:00, root cause together with 2 more, hurts nobody else'],
    [node('Orders', why), [cause], 'Orders, down since 20:00:00, because of Ledger'],
    [node('Orders', { ...why, root_cause_count: 4 }), [cause], 'Orders, down since 20:00:00, because of Ledger and 3 more'],
  ])('%o', (one, root_causes, text) => {
    expect(nodeText(view([one], [], { root_causes }), one, NOW, 'UTC')).toBe(text);
  });

  it('tells of a folded team', () => {
    const shown = view([node('Ledger', why)], [], { root_causes: [cause] });
    const [team] = fold(shown, () => 'Pay', () => true).nodes;
    expect(team && drawnText(shown, team, NOW)).toBe('Team Pay, folded, 1 service, the worst in it is down, holds a root cause');
  });
});

it.each([
  [[], ''],
  [[['Ledger', 'Audit']], 'Ledger and Audit lean on each other.'],
  [[['A', 'B', 'C', 'D', 'E', 'F']], 'A, B, C, D and 2 more lean on each other.'],
  [[['A', 'B'], ['C', 'D'], ['E', 'F']], 'A and B lean on each other, and so do 2 circles more.'],
])('tells of circles %j', (circles, text) => {
  const name = (id: string) => ({ id, kind: 'service' as const, name: id, status: 'healthy' as const });
  expect(circleText(circles.map((names) => ({ nodes: names.map(name), node_count: names.length })))).toBe(text);
});
