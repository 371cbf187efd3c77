import { expect, it } from 'vitest';
import { depthOf, partOfView, rowsOf } from './part';
import { node, thing, view } from './sample';

const WHOLE = view(
  [node('A'), node('B'), node('C', { status: 'degraded' }), thing('db', { status: 'down' }), node('Alone')],
  [
    { from: 0, to: 1, status: 'healthy' },
    { from: 1, to: 2, status: 'degraded' },
    { from: 2, to: 3, status: 'down' },
  ],
  { root_causes: [{ nodes: [{ id: 'C', kind: 'service', name: 'C', status: 'degraded' }], node_count: 1, since: null, hurts: 2, affected: 2, contradicted: false }] },
);

it.each([[undefined, 2], ['3', 3], ['0', 0], ['21', 2], ['x', 2], ['1.5', 2]])('reads the depth %s as %i', (text, depth) => {
  expect(depthOf(text)).toBe(depth);
});

it.each([
  ['B', 1, ['A', 'B', 'C'], [[0, 1], [1, 2]]],
  ['A', 2, ['A', 'B', 'C'], [[0, 1], [1, 2]]],
  ['Alone', 5, ['Alone'], []],
  ['nobody', 5, [], []],
])('shows what stands near %s', (service, depth, names, ends) => {
  const part = partOfView(WHOLE, service, depth);
  expect(part.nodes.map(({ name }) => name)).toEqual(names);
  expect(part.edges.map(({ from, to }) => [from, to])).toEqual(ends);
});

it.each([
  ['', ['C', 'db', 'A', 'Alone', 'B']],
  ['down', ['db']],
  ['alone', ['Alone']],
  ['external', ['db']],
  ['users-db', ['db']],
  ['nothing', []],
])('finds by %s', (filter, names) => {
  expect(rowsOf(WHOLE, filter, new Map([['db', 'users-db']])).map(({ name }) => name)).toEqual(names);
});
