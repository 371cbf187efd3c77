import { expect, it } from 'vitest';
import type { GraphView } from './api/graph';
import { allNames, namesIn, otherNames } from './leaning';

const node = (id: string, name: string) => ({ id, name }) as GraphView['nodes'][number];
const edge = (from: number, to: number) => ({ from, to }) as GraphView['edges'][number];

it('gathers what each service leans on, and drops edges that lead nowhere', () => {
  const names = namesIn({
    nodes: [node('a', 'Orders'), node('b', 'Ledger'), node('external:pg', 'Postgres')],
    edges: [edge(0, 1), edge(0, 2), edge(1, 2), edge(1, 9)],
  }, new Map());
  expect([...names]).toEqual([
    ['a', 'ledger\npostgres'],
    ['b', 'postgres'],
  ]);
});

it('knows a thing by every name that is reported of it', () => {
  const others = otherNames([
    { alias: 'users-db', canonical_name: 'PostgreSQL main' },
    { alias: 'PG-Orders', canonical_name: 'postgresql MAIN ' },
    { alias: 'bus', canonical_name: 'Kafka' },
  ]);
  expect(allNames('PostgreSQL main', others)).toBe('postgresql main\nusers-db\npg-orders');
  expect(allNames('Redis', others)).toBe('redis');
  const names = namesIn({ nodes: [node('a', 'Orders'), node('external:kafka', 'Kafka')], edges: [edge(0, 1)] }, others);
  expect(names.get('a')).toBe('kafka\nbus');
});
