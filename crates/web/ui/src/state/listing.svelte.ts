import type { Slice } from '../lib/api/accounts';
import type { Answer, Failure } from '../lib/api/client';
import { extended, GROWTH_LIMIT, refreshed } from '../lib/listing';
import { keepFresh } from './refresh';

type Read<Item> = (cursor: string | null) => Promise<Answer<Slice<Item>>>;

/** A list of the server's that has no events: read at first, on return, and from time to time. */
export class Listing<Item extends { readonly id: string }> {
  #slice = $state.raw<Slice<Item> | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  readonly items = $derived(this.#slice?.items ?? null);
  readonly more = $derived((this.#slice?.next_cursor ?? null) !== null);
  readonly #ask: Read<Item>;
  /** A result of an earlier turn was overtaken by a change and is dropped. */
  #turn = 0;
  /** Somebody asked while something was under way, which may be older than what they heard of. */
  #missed = false;
  /** How many it may hold: none beyond the first page until somebody loads more. */
  #most = 0;

  constructor(ask: Read<Item>) {
    this.#ask = ask;
  }

  /** Reads it until the returned function is called. */
  run(every?: number): () => void {
    void this.read();
    return keepFresh(() => void this.read(), every);
  }

  /** Forgets what it holds: another list is wanted. */
  restart(): void {
    this.#slice = null;
    this.#most = 0;
    this.failure = null;
    this.#anew();
  }

  /** Says whether it was read, or will be once what is under way has come. */
  async read(): Promise<boolean> {
    if (this.reading) {
      this.#missed = true;
      return true;
    }
    return this.#take(null, (old, fresh) => this.#refreshed(old, fresh));
  }

  async readMore(): Promise<void> {
    const cursor = this.#slice?.next_cursor ?? null;
    if (cursor !== null && !this.reading) await this.#take(cursor, (old, next) => this.#extended(old, next));
  }

  /** The server's answer to a change takes the old item's place. */
  put(item: Item): void {
    this.#edit((items) => items.map((old) => (old.id === item.id ? item : old)));
  }

  add(item: Item): void {
    this.#edit((items) => [item, ...items.filter(({ id }) => id !== item.id)]);
  }

  drop(id: string): void {
    this.#edit((items) => items.filter((old) => old.id !== id));
  }

  #edit(change: (items: readonly Item[]) => Item[]): void {
    if (this.#slice !== null) {
      this.#slice = { ...this.#slice, items: change(this.#slice.items) };
    }
    this.#anew();
  }

  #refreshed(old: Slice<Item> | null, fresh: Slice<Item>): Slice<Item> {
    const joined = refreshed(old, fresh, this.#most);
    if (joined === fresh) this.#most = 0;
    return joined;
  }

  #extended(old: Slice<Item> | null, next: Slice<Item>): Slice<Item> {
    const joined = extended(old, next);
    this.#most = joined.items.length + GROWTH_LIMIT;
    return joined;
  }

  /** What is under way is of before. */
  #anew(): void {
    this.#turn += 1;
    this.reading = false;
    void this.read();
  }

  async #take(
    cursor: string | null,
    join: (old: Slice<Item> | null, got: Slice<Item>) => Slice<Item>,
  ): Promise<boolean> {
    const turn = this.#turn;
    this.reading = true;
    this.#missed = false;
    const answer = await this.#ask(cursor);
    if (turn !== this.#turn) return true;
    this.reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.#slice = join(this.#slice, answer.value);
    return this.#missed ? this.read() : answer.ok;
  }
}
