import type { Answer, Failure } from '../lib/api/client';
import { calmly } from './calmly';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';

/** One answer of the server's that events make old: read at first, and again soon after each. */
export class Told<Value> {
  value = $state.raw<Value | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  readonly #ask: () => Promise<Answer<Value>>;
  readonly #events: readonly string[];
  #turn = 0;

  constructor(events: readonly string[], ask: () => Promise<Answer<Value>>) {
    this.#events = events;
    this.#ask = ask;
  }

  /** Follows it until the returned function is called. */
  run(): () => void {
    const soon = calmly(() => this.read());
    const again = () => {
      soon.ask();
    };
    const stops = [
      stream.on(this.#events, again),
      stream.onReload(again),
      onReturn(again),
      onReadAgain(again),
    ];
    void this.read();
    return () => {
      this.#turn += 1;
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Says whether it was read. Of two reads that are under way the later one counts. */
  async read(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    const answer = await this.#ask();
    if (turn !== this.#turn) return true;
    this.reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.value = answer.value;
    return answer.ok;
  }
}
