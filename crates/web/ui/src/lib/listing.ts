import type { Slice } from './api/accounts';

interface Known {
  readonly id: string;
}

/** What comes on top of what was loaded: as much of it is kept, so that no page grows without end. */
export const GROWTH_LIMIT = 1_000;

/**
 * A list after its first page was read again. What was loaded beyond that page stays, as long as
 * the two meet and are not more than `most`; else the list begins anew, with what came.
 */
export function refreshed<Item extends Known>(
  old: Slice<Item> | null,
  fresh: Slice<Item>,
  most: number,
): Slice<Item> {
  const last = fresh.items.at(-1);
  if (old === null || last === undefined || fresh.next_cursor === null) return fresh;
  const meets = old.items.findIndex(({ id }) => id === last.id);
  if (meets === -1 || meets === old.items.length - 1) return fresh;
  const items = [...fresh.items, ...without(old.items.slice(meets + 1), fresh.items)];
  return items.length > most ? fresh : { items, next_cursor: old.next_cursor };
}

/** A list with its next page; what moved between two reads is not shown twice. */
export function extended<Item extends Known>(
  old: Slice<Item> | null,
  next: Slice<Item>,
): Slice<Item> {
  const items = old?.items ?? [];
  return { items: [...items, ...without(next.items, items)], next_cursor: next.next_cursor };
}

function without<Item extends Known>(items: readonly Item[], others: readonly Item[]): Item[] {
  const known = new Set(others.map(({ id }) => id));
  return items.filter(({ id }) => !known.has(id));
}
