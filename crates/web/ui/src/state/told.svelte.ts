import type { Answer } from '../lib/api/client';
import { calmly } from './calmly';
import { Reading } from './reading.svelte';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';

/** One answer of the server's that events make old: read at first, and again soon after each. */
export class Told<Value> extends Reading<Value> {
  readonly #events: readonly string[];
  readonly #pause: number | undefined;

  constructor(events: readonly string[], ask: () => Promise<Answer<Value>>, pause?: number) {
    super(ask);
    this.#events = events;
    this.#pause = pause;
  }

  /** Follows it until the returned function is called. */
  override run(): () => void {
    const soon = calmly(() => this.read(), this.#pause);
    const again = () => {
      soon.ask();
    };
    const stops = [
      stream.on(this.#events, again),
      stream.onReload(again),
      onReturn(again),
      onReadAgain(again),
    ];
    void this.read().then((read) => {
      if (!read) soon.ask();
    });
    return () => {
      this.leave();
      soon.stop();
      for (const stop of stops) stop();
    };
  }
}
