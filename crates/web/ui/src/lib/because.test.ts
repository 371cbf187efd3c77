import { expect, it } from 'vitest';
import { because } from './because';

const leaning = (edges: Record<string, string[]>) => (key: string) => edges[key] ?? [];

it('finds what turned by itself, and who because of it', () => {
  const edges = { gateway: ['orders'], orders: ['db', 'mail'], catalog: ['db'], db: [] };
  expect(because(['gateway', 'orders', 'lamp', 'catalog', 'db'], leaning(edges))).toEqual([
    { roots: ['db'], followers: ['gateway', 'orders', 'catalog'] },
    { roots: ['lamp'], followers: [] },
  ]);
});

it('takes a circle for one cause', () => {
  const edges = { a: ['b'], b: ['a'], c: ['a'] };
  expect(because(['c', 'a', 'b'], leaning(edges))).toEqual([{ roots: ['a', 'b'], followers: ['c'] }]);
});

it('tells who has two causes once', () => {
  const found = because(['shop', 'db', 'mail'], leaning({ shop: ['db', 'mail'] }));
  expect(found.flatMap(({ followers }) => followers)).toEqual(['shop']);
  expect(found.map(({ roots }) => roots.join()).sort()).toEqual(['db', 'mail']);
});

it('has nothing to tell of nothing', () => {
  expect(because([], leaning({}))).toEqual([]);
});
