import { expect, it } from 'vitest';
import { MOST_PLACES, Places } from './keep';
import { node, view } from './sample';

it('keeps the place of what is gone', () => {
  const places = new Places();
  places.note(view([node('A', { x: 1, y: 2 }), node('B')]));
  places.note(view([node('B', { x: 5, y: 6 })]));
  expect([places.of('A'), places.of('B'), places.of('C')]).toEqual([{ x: 1, y: 2 }, { x: 5, y: 6 }, undefined]);
});

it('keeps so many places, and those that were seen last', () => {
  const places = new Places();
  places.note(view([node('first')]));
  places.note(view(Array.from({ length: MOST_PLACES - 1 }, (_, at) => node(String(at)))));
  expect(places.of('first')).toBeDefined();
  places.note(view([node('one more')]));
  expect([places.of('first'), places.of('0'), places.of('one more')]).toEqual([undefined, { x: 0, y: 0 }, { x: 0, y: 0 }]);
});
