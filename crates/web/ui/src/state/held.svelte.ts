import type { Line } from '../lib/board';
import { board } from './board.svelte';

/** Whoever does nothing for so long does not aim at a row any more. */
const IDLE_MS = 8_000;

/**
 * The list as it stood when somebody began to point at it or to walk it: its rows go on to tell how
 * things are, but none moves away under the pointer. Not for ever: what breaks must come to the top.
 */
export class Held {
  #held = $state.raw<{ readonly view: string; readonly ids: readonly string[] } | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #view: () => string;
  readonly #fresh: () => readonly Line[];
  readonly #ids = $derived.by(() =>
    this.#held !== null && this.#held.view === this.#view() ? this.#held.ids : null,
  );
  readonly lines = $derived.by(() =>
    this.#ids === null ? this.#fresh() : this.#ids.flatMap((id) => board.line(id) ?? []),
  );
  /** Whether the list would be another if it were not held. */
  readonly waits = $derived.by(() => {
    const fresh = this.#fresh();
    if (this.#ids === null) return false;
    return fresh.length !== this.#ids.length || fresh.some(({ id }, at) => id !== this.#ids?.[at]);
  });

  /** `view` is what a person chose: with another, there is nothing to hold. */
  constructor(view: () => string, fresh: () => readonly Line[]) {
    this.#view = view;
    this.#fresh = fresh;
  }

  /** Somebody is at it. */
  hold(): void {
    if (this.#ids === null) {
      this.#held = { view: this.#view(), ids: this.#fresh().map(({ id }) => id) };
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.release();
    }, IDLE_MS);
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#held = null;
  }
}
