import type { Slice } from '../lib/api/accounts';
import type { Failure } from '../lib/api/client';
import { readServices, type Asked, type Service } from '../lib/api/services';
import { extended } from '../lib/listing';
import { heard, SERVICE_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import { keepFresh } from './refresh';
import { stream } from './stream.svelte';

/** More rows than these nobody reads; a search finds the others. */
const MAX_PAGES = 25;

/** The services that were asked for, as they are now: the stream moves them. */
export class Services {
  #slice = $state.raw<Slice<Service> | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  readonly items = $derived(this.#slice?.items ?? null);
  readonly more = $derived((this.#slice?.next_cursor ?? null) !== null);
  readonly #asked: () => Asked;
  /** A result of an earlier turn was overtaken, and is dropped. */
  #turn = 0;
  #pages = 1;

  constructor(asked: () => Asked) {
    this.#asked = asked;
  }

  /** Follows them until the returned function is called. */
  run(): () => void {
    const soon = calmly(() => this.read());
    const stops = [
      stream.on(SERVICE_EVENTS, (event) => {
        if (this.#slice !== null) {
          this.#slice = { ...this.#slice, items: heard(this.#slice.items, event) };
        }
        soon.ask();
      }),
      stream.onReload(() => {
        soon.ask();
      }),
      // That a service was polled and nothing changed is no event.
      keepFresh(() => void this.read()),
    ];
    void this.read();
    return () => {
      this.#turn += 1;
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Others are asked for; those that are shown stay until they are there. */
  restart(): void {
    this.#pages = 1;
    void this.read();
  }

  async readMore(): Promise<void> {
    if (this.reading || this.#pages >= MAX_PAGES) return;
    this.#pages += 1;
    await this.read();
  }

  /** Reads as many pages as are shown: between two of them a row may have moved. */
  async read(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    const asked = this.#asked();
    let slice: Slice<Service> | null = null;
    for (let page = 0; page < this.#pages; page += 1) {
      const answer = await readServices(asked, slice?.next_cursor ?? null);
      if (turn !== this.#turn) return;
      this.failure = answer.ok ? null : answer.failure;
      if (!answer.ok) break;
      slice = extended(slice, answer.value);
      if (slice.next_cursor === null) break;
    }
    this.reading = false;
    if (this.failure === null) this.#slice = slice;
  }
}
