import { describe, expect, it } from 'vitest';
import { AROUND, drawnAt, inTurns, placesOf, rowAfter, rowsOn, scrollFor, slotsFor, type Drawn } from './rows';

describe('the rows of a long list', () => {
  it.each([
    ['at the top', 0, 5_000, { first: 0, end: 10 + AROUND }],
    ['in the middle', 28 * 100, 5_000, { first: 100 - AROUND, end: 110 + AROUND }],
    ['at the end', 28 * 4_990, 5_000, { first: 4_990 - AROUND, end: 5_000 }],
    ['behind the end of one that became short', 28 * 4_990, 3, { first: 2, end: 3 }],
    ['with none', 0, 0, { first: 0, end: 0 }],
  ])('%s', (_, top, count, span) => {
    expect(rowsOn(top, 280, 28, count)).toEqual(span);
  });

  it.each([0, 1, 27, 28, 29, 2_801, 140_000 - 290])('never share a slot, from %i on', (top) => {
    const { first, end } = rowsOn(top, 290, 28, 5_000);
    expect(end - first).toBeLessThanOrEqual(slotsFor(290, 28));
  });

  it.each([
    [-1, [4, 5]],
    [4, [4, 5]],
    [1, [1, 4, 5]],
    [9, [4, 5, 9]],
  ])('draw the selected one too: %i', (more, places) => {
    expect(placesOf({ first: 4, end: 6 }, more)).toEqual(places);
  });

  it('keep the order of their elements while they are scrolled', () => {
    const slotOf = (place: number) => place % 5;
    const order = (first: number) => inTurns(placesOf({ first, end: first + 5 }, -1), slotOf).map(slotOf);
    for (let first = 0; first < 20; first += 1) expect(order(first)).toEqual([0, 1, 2, 3, 4]);
  });

  const inThree = (items: string, before: readonly Drawn<string>[], slots = 3) =>
    drawnAt([...items], [...items].map((_, at) => at), (place) => place % 3, before, slots);
  const told = (drawn: readonly Drawn<string>[]) =>
    drawn.map(({ slot, item, isSpare }) => `${String(slot)}${isSpare ? '-' : '='}${item}`).join(' ');

  it.each([
    ['fill elements from the first on', ['abc'], 3, '0=a 1=b 2=c'],
    ['keep those that a shorter list leaves over', ['abc', 'x'], 3, '0=x 1-b 2-c'],
    ['keep all of them where nothing is left', ['abc', ''], 3, '0-a 1-b 2-c'],
    ['take them again', ['abc', '', 'xyz'], 3, '0=x 1=y 2=z'],
    ['never have more of them than places', ['abc', 'x', 'x'], 2, '0=x 1-b'],
  ])('%s', (_, lists, slots, expected) => {
    const drawn = lists.reduce<readonly Drawn<string>[]>((before, items) => inThree(items, before, slots), []);
    expect(told(drawn)).toBe(expected);
  });

  it('leave alone what goes on to draw the same', () => {
    const before = inThree('abc', []);
    const after = inThree('abx', before);
    expect(after.map((one, at) => one === before[at])).toEqual([true, true, false]);
  });

  it('do not keep the one that was drawn away from the others', () => {
    const away = drawnAt(['a', 'b'], [1], () => -1, [], 3);
    expect(told(away)).toBe('-1=b');
    expect(told(drawnAt<string>([], [], () => -1, away, 3))).toBe('');
  });

  it.each([
    ['in sight', 5, 0, null],
    ['above', 5, 280, 140],
    ['below', 20, 0, 308],
    ['cut at the end', 10, 0, 28],
  ])('%s', (_, at, top, expected) => {
    expect(scrollFor(at, top, 280, 28)).toBe(expected);
  });

  it.each([
    ['ArrowDown', 0, 1],
    ['ArrowDown', 99, 99],
    ['ArrowUp', 0, 0],
    ['PageDown', 5, 14],
    ['PageUp', 5, 0],
    ['Home', 50, 0],
    ['End', 50, 99],
    ['ArrowDown', -1, 0],
    ['x', 5, null],
  ])('%s from %i leads to %j', (key, at, expected) => {
    expect(rowAfter(key, at, 10, 100)).toBe(expected);
  });
});
