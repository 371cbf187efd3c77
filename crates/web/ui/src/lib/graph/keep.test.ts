import { expect, it } from 'vitest';
import { linesOf, merged, Places } from './keep';
import { item, node, view } from './sample';

it('keeps the place of what is gone', () => {
  const places = new Places();
  places.note(view([node('A', { x: 1, y: 2 }), node('B')]));
  places.note(view([node('B', { x: 5, y: 6 })]));
  expect([places.of('A'), places.of('B'), places.of('C')]).toEqual([{ x: 1, y: 2 }, { x: 5, y: 6 }, undefined]);
});

it('adds what is new, and nothing twice', () => {
  const [one, two, three] = [1, 2, 3].map((at) => item(at, 'service', 'A', null, 'down'));
  if (!one || !two || !three) throw new Error('three are made');
  expect(merged([one, two], [two, three])).toEqual([one, two, three]);
});

it('finds the line of a service', () => {
  expect(linesOf([]).get('A')).toBeUndefined();
});
