import { readLeaning, readWallboard, type WallGroup } from '../lib/api/board';
import type { Leaning } from '../lib/board-filter';
import { namesIn } from '../lib/leaning';
import { calmly } from './calmly';
import { stream } from './stream.svelte';

const PAUSE_MS = 5_000;
const EVENTS = ['service:updated', 'service:started', 'service:stopped'] as const;

/** By what names services know what they lean on: read only once somebody asks for it. */
class Leanings {
  /** Null until it is known. */
  names = $state.raw<Leaning>(null);
  /** Whether there is more than the graph has room for. */
  cut = $state(false);
  #tag: string | null = null;

  use(): () => void {
    const soon = calmly(() => this.#read(), PAUSE_MS);
    const stops = [
      stream.on(EVENTS, () => {
        soon.ask();
      }),
      stream.onReload(() => {
        soon.ask();
      }),
    ];
    void this.#read();
    return () => {
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  async #read(): Promise<void> {
    const answer = await readLeaning(this.#tag);
    if (!answer.ok || answer.value === null) return;
    this.#tag = answer.value.tag;
    this.cut = answer.value.value.truncated;
    this.names = namesIn(answer.value.value);
  }
}

/** What services lean on, by name and the worst first, for those who look for one. */
class Things {
  groups = $state.raw<readonly WallGroup[]>([]);
  #tag: string | null = null;

  async read(): Promise<void> {
    const answer = await readWallboard(this.#tag);
    if (!answer.ok || answer.value === null) return;
    this.#tag = answer.value.tag;
    this.groups = answer.value.value.items;
  }
}

export const leanings = new Leanings();
export const things = new Things();
