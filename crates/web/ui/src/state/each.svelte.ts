import type { Answer, Failure } from '../lib/api/client';
import { calmly, type Calm } from './calmly';
import { onReadAgain } from './refresh';
import { stream } from './stream.svelte';

/** So many are asked for at the same time; the others wait. */
const AT_ONCE = 4;

/** By the id of the dependency; what was not read yet is not in it. */
export type Held<Value> = Readonly<Partial<Record<string, Value>>>;

/** Something of each of some dependencies: read once, and again when something happens to it or to its service. */
export class Each<Value, Key extends string> {
  held = $state.raw<Held<Value>>({});
  /** Why the last read of one of them failed; who has none was read, or is still to be read. */
  failures = $state.raw<Held<Failure>>({});
  readonly failure = $derived(Object.values(this.failures).find((one) => one !== undefined) ?? null);
  readonly #isOurs: (service: string) => boolean;
  readonly #ask: (id: string, key: Key) => Promise<Answer<Value>>;
  #key: Key | null = null;
  #wanted: readonly string[] = [];
  #due: readonly string[] = [];
  #soon: Calm | null = null;

  /** Of one service, or of all those that are ours. */
  constructor(services: string | ((id: string) => boolean), ask: (id: string, key: Key) => Promise<Answer<Value>>) {
    this.#isOurs = typeof services === 'string' ? (id) => id === services : services;
    this.#ask = ask;
  }

  /** Follows them until the returned function is called. */
  run(): () => void {
    const soon = calmly(() => this.#read());
    this.#soon = soon;
    const all = () => {
      this.#readSoon(this.#wanted);
    };
    const stops = [
      stream.on(['dependency:status'], (event) => {
        const id = event['dependency_id'];
        if (typeof id === 'string' && this.#wanted.includes(id)) this.#readSoon([id]);
      }),
      stream.on(['service:status', 'service:updated'], (event) => {
        const id = event['service_id'];
        if (typeof id === 'string' && this.#isOurs(id)) all();
      }),
      stream.onReload(all),
      onReadAgain(all),
    ];
    all();
    return () => {
      soon.stop();
      this.#soon = null;
      for (const stop of stops) stop();
    };
  }

  /** Which ones are shown, and by what: with another key all are read anew. */
  want(ids: readonly string[], key: Key): void {
    if (key !== this.#key) [this.held, this.failures] = [{}, {}];
    this.#key = key;
    this.#wanted = ids;
    this.#readSoon(ids.filter((id) => this.held[id] === undefined));
  }

  #readSoon(ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.#due = [...this.#due.filter((id) => !ids.includes(id)), ...ids];
    this.#soon?.ask();
  }

  /** Says whether all were read; those that were not stay due. */
  async #read(): Promise<boolean> {
    const ids = this.#due;
    this.#due = [];
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => this.#readOne(id)));
    }
    return this.#due.length === 0;
  }

  async #readOne(id: string): Promise<void> {
    const key = this.#key;
    if (key === null) return;
    const answer = await this.#ask(id, key);
    // Another key was chosen meanwhile, which asks for itself.
    if (key !== this.#key) return;
    this.failures = { ...this.failures, [id]: answer.ok ? undefined : answer.failure };
    if (answer.ok) this.held = { ...this.held, [id]: answer.value };
    else if (this.#wanted.includes(id) && !this.#due.includes(id)) this.#due = [...this.#due, id];
  }
}
