import type { Answer, Failure } from '../lib/api/client';
import { keepFresh } from './refresh';

/** One answer of the server's that has no events: read at first, on return, and now and then. */
export class Reading<Value> {
  value = $state.raw<Value | null>(null);
  failure = $state.raw<Failure | null>(null);
  readonly #ask: () => Promise<Answer<Value>>;
  #turn = 0;

  constructor(ask: () => Promise<Answer<Value>>) {
    this.#ask = ask;
  }

  /** Reads it until the returned function is called. */
  run(every?: number): () => void {
    void this.read();
    return keepFresh(() => void this.read(), every);
  }

  /** Of two reads that are under way the later one counts. */
  async read(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const answer = await this.#ask();
    if (turn !== this.#turn) return;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.value = answer.value;
  }
}
