import { expect, it } from 'vitest';
import type { GraphView } from './api/graph';
import { namesIn } from './leaning';

const node = (id: string, name: string) => ({ id, name }) as GraphView['nodes'][number];
const edge = (from: number, to: number) => ({ from, to }) as GraphView['edges'][number];

it('gathers what each service leans on, and drops edges that lead nowhere', () => {
  const names = namesIn({
    nodes: [node('a', 'Orders'), node('b', 'Ledger'), node('external:pg', 'Postgres')],
    edges: [edge(0, 1), edge(0, 2), edge(1, 2), edge(1, 9)],
  });
  expect([...names]).toEqual([
    ['a', 'ledger\npostgres'],
    ['b', 'postgres'],
  ]);
});
