import { expect, it } from 'vitest';
import { listsOf } from '../../lib/graph/lists';
import { node, thing, view } from '../../lib/graph/sample';
import { disputesText } from '../../lib/now';
import { disputesIn, leaningIn, leaningOn } from './panel';

const names = (all: readonly { name: string; note: string }[]) => all.map(({ name, note }) => `${name} ${note}`);

it('tells who is hurt by a node from who only leans on it', () => {
  const edge = (from: number, to: number) => ({ from, to, status: 'down' as const });
  const shown = view(
    [
      thing('db', { status: 'down' }),
      node('Orders', { status: 'degraded' }),
      node('Search'),
      node('Shop', { status: 'down' }),
      // It fails, and what lies between is well.
      node('Finder', { status: 'degraded' }),
    ],
    [edge(1, 0), edge(2, 0), edge(3, 1), edge(4, 2)],
  );
  const lists = listsOf(shown.nodes.length, shown.edges);
  const found = leaningOn(shown, lists, 0);
  expect(names(found.affected)).toEqual(['Orders directly', 'Shop 2 steps away']);
  expect(names(found.others)).toEqual(['Search directly', 'Finder 2 steps away']);
  // What is well hurts nobody, however those are who lean on it.
  expect(leaningOn(shown, lists, 2).affected).toEqual([]);
});

it('takes it from the server where only a part is here', () => {
  const hurt = { status: 'degraded' as const, only_through_others: false, via: 'external:db' };
  const found = leaningIn({
    node: { id: 'external:db', kind: 'external', name: 'db', status: 'down' },
    services: [
      { id: 'a', name: 'A', distance: 1, affected: true, ...hurt },
      { id: 'b', name: 'B', distance: 2, affected: false, ...hurt },
    ],
    service_count: 2,
    affected_count: 1,
    direct_count: 1,
  });
  expect([names(found.affected), names(found.others)]).toEqual([['A directly'], ['B 2 steps away']]);
});

it('names who says the opposite of a root cause', () => {
  const db = thing('db', { status: 'down' });
  const shown = view(
    [db, node('Orders', { status: 'degraded' }), node('Shop'), node('Mail')],
    [
      { from: 1, to: 0, status: 'down' },
      { from: 2, to: 0, status: 'healthy', contradicts: true },
      { from: 3, to: 1, status: 'healthy', contradicts: true },
    ],
  );
  const cause = { nodes: [db], node_count: 1, hurts: 2, affected: 1, contradicted: true, since: null };
  expect(disputesText({ ...cause, disputes: disputesIn(shown, cause) })).toBe('Shop finds it healthy.');
});
