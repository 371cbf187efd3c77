import { describe, expect, it } from 'vitest';
import type { HistoryItem } from '../api/graph';
import { LONG, quickest } from '../quickest';
import { incidentsOf, type Incident } from './incidents';
import { Replay } from './replay';
import { item, START, state } from './sample';
import { spellsOf } from './spells';

const MINUTE = 60_000;
const LEANS = { Shop: ['Orders', 'stripe'], Orders: ['pg'], Search: ['pg'], Mail: [] };

function found(items: HistoryItem[], leans: Record<string, string[]> = LEANS, from = state(leans)): Incident[] {
  return incidentsOf(spellsOf(new Replay(START, START + 24 * 60 * MINUTE, from, items)));
}

const after = (time: number | null) => (time === null ? null : (time - START) / MINUTE);
const told = ({ begin, seen, to, status, names, hurt }: Incident) =>
  [after(begin), after(seen), after(to), status, names.join(' '), hurt];

const pg = (at: number, status: string, of = 'Orders') => item(at, 'dependency', of, 'pg', status);
const service = (at: number, name: string, status: string) => item(at, 'service', name, null, status);
/** The database fails, and who leans on it a little later. */
const fall = (at: number, worst = 'down') => [
  pg(at, 'degraded'),
  service(at, 'Orders', 'degraded'),
  pg(at + 0.2, worst),
  service(at + 0.5, 'Shop', 'degraded'),
  pg(at + 8, 'healthy'),
  service(at + 8, 'Orders', 'healthy'),
  service(at + 8.5, 'Shop', 'healthy'),
];

describe('an incident', () => {
  it('begins with the first thing that turned, lasts as long as its cause, and hurts who leans on it', () => {
    expect(found(fall(10)).map(told)).toEqual([[10, 10, 18, 'down', 'pg', 2]]);
  });

  it('is one that only degraded, and says so', () => {
    expect(found(fall(10, 'degraded')).map(told)).toEqual([[10, 10, 18, 'degraded', 'pg', 2]]);
  });

  it('is as bad as the worst of it, though its cause only slowed', () => {
    const [one] = found([pg(1, 'degraded'), service(1, 'Orders', 'down'), service(5, 'Orders', 'healthy'), pg(5, 'healthy')]);
    expect([one?.status, one?.causeStatus, one?.hurtDown]).toEqual(['down', 'degraded', 1]);
  });

  it('is another one after a calm stretch, however long the window is', () => {
    expect(found([...fall(10), ...fall(25)]).map(told)).toEqual([
      [10, 10, 18, 'down', 'pg', 2],
      [25, 25, 33, 'down', 'pg', 2],
    ]);
  });

  it('goes on where its cause came back for a moment only', () => {
    const items = [pg(1, 'down'), pg(3, 'healthy'), pg(3.5, 'down'), pg(6, 'healthy')];
    expect(found(items).map(told)).toEqual([[1, 1, 6, 'down', 'pg', 0]]);
  });

  it('is another one for another cause at the same time', () => {
    const items = [...fall(10), item(12, 'dependency', 'Shop', 'stripe', 'down'), item(14, 'dependency', 'Shop', 'stripe', 'healthy')];
    expect(found(items).map(told)).toEqual([
      [10, 10, 18, 'down', 'pg', 2],
      [12, 12, 14, 'down', 'stripe', 0],
    ]);
  });

  it('is not the end of another one that its users were ill before', () => {
    const items = [service(1, 'Shop', 'degraded'), ...fall(30).filter(({ service_id }) => service_id !== 'Shop')];
    expect(found(items).map(told)).toEqual([
      [1, 1, null, 'degraded', 'Shop', 0],
      [30, 30, 38, 'down', 'pg', 1],
    ]);
  });

  it('stands where a user noticed first, and is seen from when its cause is known', () => {
    const items = [service(9.5, 'Orders', 'down'), pg(10, 'down', 'Search'), service(15, 'Orders', 'healthy'), pg(15, 'healthy', 'Search')];
    expect(found(items).map(told)).toEqual([[9.5, 10, 15, 'down', 'pg', 1]]);
  });

  it('is there from its first event on, and lasts', () => {
    expect(found([pg(59.9, 'degraded')]).map(told)).toEqual([[59.9, 59.9, null, 'degraded', 'pg', 0]]);
  });

  it('lasts while those are ill who can not tell of its cause any more', () => {
    const items = [
      pg(1, 'down'), service(1, 'Orders', 'degraded'), service(2, 'Orders', 'down'), item(2, 'stale', 'Orders', null, 'stale'),
      item(9, 'stale', 'Orders', null, 'fresh'), pg(9, 'healthy'), service(9, 'Orders', 'healthy'),
    ];
    expect(found(items, { Orders: ['pg'] }).map(told)).toEqual([[1, 1, 9, 'down', 'pg', 1]]);
  });

  it('has a circle that fails together as its cause', () => {
    const items = [service(1, 'A', 'down'), service(1.2, 'B', 'down')];
    expect(found(items, { A: ['B'], B: ['A'] }).map(told)).toEqual([[1, 1, null, 'down', 'A B', 0]]);
  });

  it('began before the span, when it lasted then', () => {
    const { services, dependencies } = state(LEANS);
    const before = { services, dependencies: dependencies.map((one) => (one.id === 'Orders/pg' ? { ...one, status: 'down' as const } : one)) };
    expect(found([pg(5, 'healthy')], LEANS, before).map(told)).toEqual([[-60, -60, 5, 'down', 'pg', 0]]);
  });

  it('goes by the names that aliases and links give', () => {
    const items = [
      item(0, 'alias', 'Orders', 'pg', 'PostgreSQL'), item(0, 'alias', 'Search', 'pg', 'postgresql'),
      pg(1, 'down'), pg(1.1, 'down', 'Search'), pg(3, 'healthy'), pg(4, 'healthy', 'Search'),
      item(5, 'link', 'Shop', 'stripe', 'Mail'), service(6, 'Mail', 'down'), service(6, 'Shop', 'degraded'),
    ];
    expect(found(items).map(told)).toEqual([
      [1, 1, 4, 'down', 'PostgreSQL', 0],
      [6, 6, null, 'down', 'Mail', 1],
    ]);
  });

  it('ends with what is removed, and tells of what was', () => {
    expect(found([service(1, 'Mail', 'down'), item(5, 'removed', 'Mail', null, null)]).map(told)).toEqual([[1, 1, 5, 'down', 'Mail', 0]]);
  });

  it('lets numbers decide where times do not', () => {
    // What came late says that it was well since before.
    expect(found([service(3, 'Mail', 'down'), service(2, 'Mail', 'healthy')]).map(told)).toEqual([]);
  });

  it('is none for a change to and from what nobody knows', () => {
    expect(found([service(1, 'Mail', 'unknown'), service(2, 'Mail', 'healthy')])).toEqual([]);
  });
});

it('takes little time for as many changes as are kept', LONG, () => {
  const leans = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`s${String(at)}`, ['pg', `s${String((at + 1) % 500)}`]]));
  const items = Array.from({ length: 40_000 }, (_, at) => service(at / 60, `s${String(at % 500)}`, at % 1_000 < 500 ? 'down' : 'healthy'));
  const took = quickest(() => {
    const replay = new Replay(START, START + 24 * 60 * MINUTE, state(leans), items);
    expect(incidentsOf(spellsOf(replay)).length).toBeGreaterThan(0);
  });
  expect(took).toBeLessThan(2_000);
});
