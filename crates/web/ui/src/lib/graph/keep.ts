import type { GraphView } from '../api/graph';
import type { Place } from './then';

/** Many more than a graph has; of more, those that were seen first are forgotten. */
export const MOST_PLACES = 20_000;

/** Where each node stands that was ever shown: what is gone today has a place in the past too. */
export class Places {
  readonly #known = new Map<string, Place>();

  note({ nodes }: GraphView): void {
    for (const { id, x, y } of nodes) {
      // What is set again stands last again.
      this.#known.delete(id);
      this.#known.set(id, { x, y });
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MOST_PLACES) break;
      this.#known.delete(id);
    }
  }

  readonly of = (id: string): Place | undefined => this.#known.get(id);
}
