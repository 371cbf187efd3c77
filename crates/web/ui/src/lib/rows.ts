/** Which rows of a long list are drawn: those on the screen and a few around them. */
export interface Span {
  readonly first: number;
  /** The one after the last. */
  readonly end: number;
}

/** So many more above and below, so that a quick turn of the wheel shows no gap. */
export const AROUND = 6;

export function rowsOn(top: number, height: number, row: number, count: number): Span {
  if (row <= 0 || count === 0) return { first: 0, end: 0 };
  const first = Math.max(Math.floor(top / row) - AROUND, 0);
  const end = Math.min(Math.ceil((top + height) / row) + AROUND, count);
  return { first: Math.min(first, Math.max(count - 1, 0)), end };
}

/** How many rows are drawn at most: one more than fit where the first and the last are cut. */
export function slotsFor(height: number, row: number): number {
  return row <= 0 ? 1 : Math.ceil(height / row) + 1 + 2 * AROUND;
}

/** The places to draw: those of the span, and one more that may lie outside of it. */
export function placesOf({ first, end }: Span, more: number): number[] {
  const places = Array.from({ length: Math.max(end - first, 0) }, (_, at) => first + at);
  if (more < 0 || (more >= first && more < end)) return places;
  return more < first ? [more, ...places] : [...places, more];
}

/** The same in the order of the elements that draw them, which take turns: so none of them has to move. */
export function inTurns(places: readonly number[], slotOf: (place: number) => number): number[] {
  return [...places].sort((one, other) => slotOf(one) - slotOf(other));
}

/** What one element of the list draws. */
export interface Drawn<Item> {
  readonly slot: number;
  readonly place: number;
  readonly item: Item;
  /** Its place is gone: it keeps what it drew, out of sight, until it is needed again. */
  readonly isSpare: boolean;
}

/**
 * What the elements draw after they drew `before`. One that a shorter list has no use for is kept: filling it
 * again costs a fraction of making it, which a key of a filter would have to wait for.
 */
export function drawnAt<Item>(
  items: readonly Item[],
  places: readonly number[],
  slotOf: (place: number) => number,
  before: readonly Drawn<Item>[],
  slots: number,
): Drawn<Item>[] {
  const known = new Map(before.map((one) => [one.slot, one]));
  const drawn = places.flatMap((place) => {
    const [item, slot] = [items[place], slotOf(place)];
    if (item === undefined) return [];
    const one = known.get(slot);
    // The same again is the same object: nothing of it is drawn anew.
    const isSame = one !== undefined && !one.isSpare && one.place === place && one.item === item;
    return [isSame ? one : { slot, place, item, isSpare: false }];
  });
  const taken = new Set(drawn.map(({ slot }) => slot));
  const spare = before.filter(({ slot }) => slot >= 0 && slot < slots && !taken.has(slot));
  return [...drawn, ...spare.map((one) => (one.isSpare ? one : { ...one, isSpare: true }))];
}

/** Where to scroll so that a row is in sight; null when it is. `height` is that of the rows' place. */
export function scrollFor(at: number, top: number, height: number, row: number): number | null {
  if (at * row < top) return at * row;
  if ((at + 1) * row > top + height) return Math.max((at + 1) * row - height, 0);
  return null;
}

const FAR = Number.MAX_SAFE_INTEGER;

/** The row that a key leads to from another; null when it is no such key, or there is none. */
export function rowAfter(key: string, at: number, page: number, count: number): number | null {
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: Math.max(page - 1, 1),
    PageUp: -Math.max(page - 1, 1),
    Home: -FAR,
    End: FAR,
  };
  const step = steps[key];
  if (step === undefined || count === 0) return null;
  return Math.min(Math.max(at + step, 0), count - 1);
}
