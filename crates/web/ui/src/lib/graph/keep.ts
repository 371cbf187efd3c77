import type { BoardItem, GraphView, HistoryItem } from '../api/graph';
import type { Place } from './then';

/** Where each node stands that was ever shown: what is gone today has a place in the past too. */
export class Places {
  readonly #known = new Map<string, Place>();

  note({ nodes }: GraphView): void {
    for (const { id, x, y } of nodes) this.#known.set(id, { x, y });
  }

  readonly of = (id: string): Place | undefined => this.#known.get(id);
}

export type Lines = ReadonlyMap<string, BoardItem>;

/** The lines of the board by service. */
export function linesOf(items: readonly BoardItem[]): Lines {
  return new Map(items.map((item) => [item.id, item]));
}

/** What is known, and after it what is new of what came. */
export function merged(known: readonly HistoryItem[], came: readonly HistoryItem[]): HistoryItem[] {
  const ids = new Set(known.map(({ id }) => id));
  return [...known, ...came.filter(({ id }) => !ids.has(id))];
}
