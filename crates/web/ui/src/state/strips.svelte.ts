import { readStrips, STRIPS_LIMIT } from '../lib/api/board';
import { latest, stripsOf, type StripCells } from '../lib/strip';
import { calmly } from './calmly';
import { stream } from './stream.svelte';

/** Some screens back and forth; those that were seen longest ago go. */
const KEPT = 500;
/** Whoever scrolls past does not need them. */
const SETTLE_MS = 90;
/** The latencies of the hours have no events. */
const OLD_MS = 120_000;
const LOOK_MS = 15_000;
const PAUSE_MS = 2_000;

interface Kept {
  readonly strip: StripCells;
  readonly readAt: number;
}

/** How services were over the last day: of those that are looked at. */
class Strips {
  #kept = $state.raw<ReadonlyMap<string, Kept>>(new Map());
  /** Who looks at which. */
  readonly #lookers = new Map<symbol, readonly string[]>();
  readonly #changed = new Set<string>();
  #wanted: readonly string[] = [];
  #reading: { readonly ids: readonly string[]; readonly abort: AbortController } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  of(id: string): StripCells | null {
    return this.#kept.get(id)?.strip ?? null;
  }

  /** Keeps those true that a part of the page shows, until the returned function is called. */
  follow(): { look: (ids: readonly string[]) => void; stop: () => void } {
    const who = Symbol();
    const soon = calmly(() => this.#read(), PAUSE_MS);
    const unhear = stream.on(['service:status', 'service:started', 'service:stopped'], (event) => {
      const id = event['service_id'];
      if (typeof id !== 'string' || !this.#wanted.includes(id)) return;
      this.#changed.add(id);
      soon.ask();
    });
    const unreload = stream.onReload(() => {
      for (const id of this.#wanted) this.#changed.add(id);
      soon.ask();
    });
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') soon.ask();
    }, LOOK_MS);
    return {
      look: (ids) => {
        this.#look(who, ids);
      },
      stop: () => {
        soon.stop();
        unhear();
        unreload();
        clearInterval(timer);
        this.#look(who, []);
        this.#lookers.delete(who);
      },
    };
  }

  #look(who: symbol, ids: readonly string[]): void {
    this.#lookers.set(who, ids);
    this.#wanted = [...new Set([...this.#lookers.values()].flat())];
    const reading = this.#reading;
    if (reading !== null && !reading.ids.some((id) => this.#wanted.includes(id))) {
      reading.abort.abort();
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), SETTLE_MS);
  }

  #due(): string[] {
    const now = Date.now();
    const isDue = (id: string) => {
      const kept = this.#kept.get(id);
      return kept === undefined || this.#changed.has(id) || now - kept.readAt > OLD_MS;
    };
    return this.#wanted.filter(isDue).slice(0, STRIPS_LIMIT);
  }

  async #read(): Promise<void> {
    if (this.#reading !== null) return;
    const ids = this.#due();
    if (ids.length === 0) return;
    const abort = new AbortController();
    this.#reading = { ids, abort };
    const changed = ids.filter((id) => this.#changed.delete(id));
    const answer = await readStrips(ids, abort.signal);
    this.#reading = null;
    if (answer.ok) this.#keep(stripsOf(answer.value));
    // What was not read is as old as before.
    else for (const id of changed) this.#changed.add(id);
    const isUnwanted = abort.signal.aborted;
    // What could not be read is asked for again with the next look; the rest goes on at once.
    if ((answer.ok || isUnwanted) && this.#due().some((id) => !ids.includes(id))) await this.#read();
  }

  #keep(read: readonly [string, StripCells][]): void {
    const readAt = Date.now();
    const fresh = read.map(([id, strip]) => [id, { strip, readAt }] as const);
    this.#kept = latest(this.#kept, fresh, KEPT, new Set(this.#wanted));
  }
}

export const strips = new Strips();
