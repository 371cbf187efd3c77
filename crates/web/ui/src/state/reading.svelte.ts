import type { Answer, Failure } from '../lib/api/client';
import { keepFresh } from './refresh';

/** One answer of the server's that has no events: read at first, on return, and now and then. */
export class Reading<Value> {
  value = $state.raw<Value | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  /** Since when what it holds is asked for in vain; null while it is not, or holds nothing. */
  failingSince = $state<number | null>(null);
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

  /** Says whether it was read. Of two reads that are under way the later one counts. */
  async read(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    const askedAt = Date.now();
    const answer = await this.#ask();
    if (turn !== this.#turn) return true;
    this.reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.value = answer.value;
    const inVain = !answer.ok && this.value !== null;
    this.failingSince = inVain ? (this.failingSince ?? askedAt) : null;
    return answer.ok;
  }

  /** Nobody wants what is under way. */
  protected leave(): void {
    this.#turn += 1;
    this.reading = false;
  }
}
