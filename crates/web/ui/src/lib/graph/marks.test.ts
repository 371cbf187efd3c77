import { describe, expect, it } from 'vitest';
import type { Incident } from './incidents';
import { incidentAt, incidentText, marksOf, markText, nextIncident, turnOf } from './marks';

const NOW = Date.parse('2026-11-15T21:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = { from: NOW - 24 * HOUR, to: NOW };

/** So many minutes ago. */
function one(ago: number, name: string, more: Partial<Incident> = {}): Incident {
  const begin = NOW - ago * MINUTE;
  return {
    id: `${name} ${String(ago)}`, begin, seen: begin, to: begin + 8 * MINUTE, status: 'down', causeStatus: 'down',
    names: [name], count: 1, hurt: 6, hurtDown: 0, ...more,
  };
}

describe('marks', () => {
  it('are two for two incidents that have room beside each other', () => {
    const marks = marksOf([one(600, 'pg'), one(500, 'stripe')], DAY, 1_000);
    expect(marks.map(({ first, all, part }) => [first.names[0], all.length, part.toFixed(3)])).toEqual([
      ['pg', 1, '0.583'],
      ['stripe', 1, '0.653'],
    ]);
  });

  it('are one for what would overlap, which says how many and leads to the first', () => {
    const all = [one(600, 'pg', { status: 'degraded' }), one(595, 'stripe'), one(590, 'kafka'), one(300, 'mail')];
    const marks = marksOf(all, DAY, 1_000);
    expect(marks.map(({ first, all, status }) => [first.names[0], all.length, status])).toEqual([['pg', 3, 'down'], ['mail', 1, 'down']]);
    // With more room they stand apart.
    expect(marksOf(all, DAY, 10_000)).toHaveLength(4);
  });

  it('have a place at the edge for what began before and lasted into the window', () => {
    const marks = marksOf([one(25 * 60, 'pg', { to: null }), one(30 * 60, 'over'), one(-5, 'later')], DAY, 1_000);
    expect(marks.map(({ first, part }) => [first.names[0], part])).toEqual([['pg', 0]]);
  });

  it('are not more than there is room for, however much happens', () => {
    const all = Array.from({ length: 5_000 }, (_, at) => one(at / 4, 'pg', { id: String(at) })).reverse();
    const marks = marksOf(all, DAY, 300);
    expect(marks.length).toBeLessThanOrEqual(16);
    expect(marks.reduce((sum, { all }) => sum + all.length, 0)).toBe(5_000);
  });
});

describe('what is said of an incident', () => {
  it.each<[Partial<Incident>, string]>([
    [{}, 'Incident 19:00:00, pg down, 6 hurt, 8\u00a0min'],
    [{ to: null }, 'Incident 19:00:00, pg down, 6 hurt, 2\u00a0h so far'],
    [{ hurt: 0 }, 'Incident 19:00:00, pg down, 8\u00a0min'],
    [{ status: 'degraded', causeStatus: 'degraded' }, 'Incident 19:00:00, pg degraded, 6 hurt, 8\u00a0min'],
    [{ causeStatus: 'degraded', hurtDown: 2 }, 'Incident 19:00:00, pg degraded, 6 hurt, 2 of them down, 8\u00a0min'],
    [{ names: ['a', 'b', 'c'], count: 5, hurt: 1 }, 'Incident 19:00:00, a, b, c and 2 more down, 1 hurt, 8\u00a0min'],
  ])('%o', (more, text) => {
    expect(incidentText(one(120, 'pg', more), NOW, 'UTC')).toBe(text);
  });

  it('tells of many by the first', () => {
    const [mark] = marksOf([one(600, 'pg'), one(598, 'stripe')], DAY, 100);
    expect(mark && markText(mark, NOW, 'UTC')).toBe('2 incidents, the first: Incident 11:00:00, pg down, 6 hurt, 8\u00a0min');
  });
});

it('a mark leads to its first incident, then to each after it, and to the first again', () => {
  const [mark] = marksOf([one(600, 'pg'), one(598, 'stripe'), one(597, 'mail')], DAY, 100);
  if (mark === undefined) throw new Error('there is one');
  const ids = mark.all.map(({ id }) => id);
  const turns = [null, 'another', ...ids].map((current) => turnOf(mark, current).names[0]);
  expect(turns).toEqual(['pg', 'pg', 'stripe', 'mail', 'pg']);
});

describe('walking', () => {
  const all = [one(600, 'pg'), one(595, 'stripe'), one(595, 'kafka'), one(300, 'mail')];
  const walk = (way: 1 | -1, moment: number, chosen: string | null = null) => nextIncident(all, moment, way, chosen)?.names[0];

  it('reaches every incident, to and fro, also those of one moment', () => {
    for (const way of [1, -1] as const) {
      const seen: (string | undefined)[] = [];
      let [moment, chosen] = [way === 1 ? DAY.from : NOW, null as string | null];
      for (let next = nextIncident(all, moment, way, chosen); next !== null; next = nextIncident(all, moment, way, chosen)) {
        seen.push(next.names[0]);
        [moment, chosen] = [next.seen, next.id];
      }
      expect(seen).toEqual(way === 1 ? ['pg', 'stripe', 'kafka', 'mail'] : ['mail', 'kafka', 'stripe', 'pg']);
    }
  });

  it('begins anew where somebody has gone elsewhere meanwhile', () => {
    expect(walk(1, NOW - 400 * MINUTE, all[0]?.id)).toBe('mail');
    expect(walk(-1, NOW - 400 * MINUTE, all[3]?.id)).toBe('kafka');
    expect(walk(1, NOW)).toBeUndefined();
  });
});

describe('the incident of a moment', () => {
  const all = [one(600, 'pg'), one(596, 'stripe', { to: NOW - 594 * MINUTE })];

  it.each([
    ['before it', 601, undefined],
    ['when it begins', 600, 'pg'],
    ['while it lasts', 598, 'pg'],
    ['when another one began since', 595, 'stripe'],
    ['when that is over', 593, 'pg'],
    ['after all', 591, undefined],
  ])('%s', (_, ago, name) => {
    expect(incidentAt(all, NOW - ago * MINUTE, null)?.names[0]).toBe(name);
  });

  it('is the chosen one, where that can be seen', () => {
    expect(incidentAt(all, NOW - 596 * MINUTE, all[0]?.id ?? null)?.names[0]).toBe('pg');
    expect(incidentAt(all, NOW - 593 * MINUTE, all[1]?.id ?? null)?.names[0]).toBe('pg');
  });
});
