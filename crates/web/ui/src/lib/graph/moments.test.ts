import { describe, expect, it } from 'vitest';
import { markAt, marksOf, markText, nextMark } from './marks';
import { Replay } from './replay';
import { item, node, START, state, thing, view } from './sample';
import { momentAt, momentOf, momentText, notThen, partOf, played, spanOf, stepped, windowAfter, windowOf } from './time';
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
  expect(played(NOW - 10_000, 1_000, speed, NOW)).toBe(to === NOW ? null : to);
});

it('tells a moment', () => {
  expect(momentText(NOW - 2 * HOUR, NOW, 'UTC')).toBe('19:00:00, 2\u00a0h ago');
});

describe('marks', () => {
  const NOTHING = new Replay(0, 1, null, []).end;
  const fell = (at: number, name: string, service: string | null = null, after = 'down') => ({
    at: NOW - HOUR + at * MINUTE,
    kind: service === null ? 'dependency' : 'service',
    service_id: service ?? 's',
    dependency_id: service === null ? name : null,
    dependency_name: service === null ? name : null,
    after,
  });

  it('are where something went down, and what fell together is one', () => {
    const marks = marksOf(
      [fell(30, 'kafka'), fell(10, 'Postgres'), fell(10.2, 'postgres '), fell(10.3, '', 'orders'), fell(20, 'stripe', null, 'healthy'), fell(-5, 'old')],
      LAST_HOUR,
      () => 'Orders',
      NOTHING,
    );
    expect(marks.map(markText)).toEqual(['Postgres, Orders went down', 'kafka went down']);
    expect(marks[0]?.at).toBe(NOW - HOUR + 10.3 * MINUTE);
    expect(nextMark(marks, NOW, -1)?.names).toEqual(['kafka']);
    expect(nextMark(marks, NOW - HOUR, 1)?.count).toBe(2);
    expect(nextMark(marks, NOW, 1)).toBeNull();
  });

  it('name a few and count the rest', () => {
    const [mark] = marksOf(['a', 'b', 'c', 'd', 'e'].map((name) => fell(1, name)), LAST_HOUR, () => undefined, NOTHING);
    expect(mark && markText(mark)).toBe('a, b, c and 2 more went down');
  });

  it('are named by the cause, whatever its users call it, and count who fell because of it', () => {
    const known = new Replay(0, 1, state({ Orders: ['pg'], Shop: ['Orders'], Mail: [] }), [
      item(-50, 'alias', 'Orders', 'pg', 'PostgreSQL main'),
    ]).end;
    const at = (name: string, service: string | null, after = 'down') => ({ ...fell(10, name, service, after) });
    const marks = marksOf(
      [
        { ...at('pg', null, 'degraded'), service_id: 'Orders', dependency_id: 'Orders/pg' },
        at('', 'Orders'),
        at('', 'Shop', 'degraded'),
        at('', 'Mail', 'degraded'),
      ],
      LAST_HOUR,
      () => undefined,
      known,
    );
    expect(marks.map(markText)).toEqual(['PostgreSQL main went down, 2 more because of it']);
  });

  it('are none where nothing went down', () => {
    expect(marksOf([fell(1, 'a', null, 'degraded')], LAST_HOUR, () => undefined, NOTHING)).toEqual([]);
  });
});

describe('the mark of a moment', () => {
  const mark = (at: number, name: string) => ({ at, names: [name], count: 1, followers: 0 });
  const marks = [mark(NOW - 20 * MINUTE, 'Search'), mark(NOW - 18 * MINUTE, 'Ledger')];
  const STEP = 5 * MINUTE;

  it.each([
    ['a step before', NOW - 25 * MINUTE, undefined],
    ['just before', NOW - 20 * MINUTE - 1, undefined],
    ['when it happened', NOW - 20 * MINUTE, 'Search'],
    ['a little later', NOW - 19 * MINUTE, 'Search'],
    ['when the next one happened', NOW - 18 * MINUTE, 'Ledger'],
    ['within a step of the last one', NOW - 13 * MINUTE - 1, 'Ledger'],
    ['a step later', NOW - 13 * MINUTE, undefined],
  ])('%s', (_, moment, name) => {
    expect(markAt(marks, moment, STEP)?.names[0]).toBe(name);
  });
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
    expect(team && drawnText(shown, team, NOW)).toBe('Team Pay, folded, 1 service, the worst is down, holds a root cause');
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
