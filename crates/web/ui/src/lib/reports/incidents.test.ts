import { expect, it } from 'vitest';
import { OFFERS_LIMIT, offersOf } from './incidents';

const NOW = Date.parse('2026-11-15T22:00:00Z');
const WEEK = 7 * 86_400_000;
const at = (time: string) => Date.parse(`2026-11-15T${time}:00Z`);
const incident = (begin: string, to: string | null, name: string, hurt = 0, count = 1) => ({
  begin: at(begin),
  to: to === null ? null : at(to),
  status: 'down' as const,
  names: [name],
  count,
  hurt,
});

it('offers incidents with a margin, newest first, by what failed by itself', () => {
  const all = [incident('18:00', '18:15', 'mail', 1), incident('20:10', '20:30', 'PostgreSQL main', 6, 2)];
  expect(offersOf(all, NOW, WEEK)).toEqual([
    { from: '2026-11-15T20:05:00.000Z', to: '2026-11-15T20:35:00.000Z', about: 'PostgreSQL main and 1 more' },
    { from: '2026-11-15T17:55:00.000Z', to: '2026-11-15T18:20:00.000Z', about: 'mail' },
  ]);
  expect(offersOf([], NOW, WEEK)).toEqual([]);
});

it.each([
  ['20:30', '2026-11-15T20:10:00.000Z'],
  [null, '2026-11-15T20:10:00.000Z'],
])('never reaches into the future, nor further than may be asked: ended %s', (to, from) => {
  const [found] = offersOf([incident('19:00', to, 'a')], at('20:11'), 60_000);
  expect(found).toMatchObject({ from, to: '2026-11-15T20:11:00.000Z' });
});

it('keeps large ones among many small ones, and the last', () => {
  const small = Array.from({ length: 30 }, (_, minute) => incident(`21:${String(minute + 10)}`, `21:${String(minute + 11)}`, `blip ${String(minute)}`));
  const offered = offersOf([incident('03:00', '03:20', 'db', 9), ...small], NOW, WEEK).map(({ about }) => about);
  expect(offered).toHaveLength(OFFERS_LIMIT);
  expect([offered[0], offered.at(-1)]).toEqual(['blip 29', 'db']);
});

it('always offers what runs now, however little it hurts', () => {
  const large = Array.from({ length: 9 }, (_, hour) => incident(`1${String(hour)}:00`, `1${String(hour)}:20`, `large ${String(hour)}`, 9));
  const offered = offersOf([incident('03:00', null, 'running'), ...large], NOW, WEEK).map(({ about }) => about);
  expect(offered).toHaveLength(OFFERS_LIMIT);
  expect(offered).toContain('running');
});
