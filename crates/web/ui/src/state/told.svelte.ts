import type { Answer } from '../lib/api/client';
import type { LiveEvent } from '../lib/live/messages';
import { calmly } from './calmly';
import { Reading } from './reading.svelte';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';

/** One answer of the server's that events make old: read at first, and again soon after each. */
export class Told<Value> extends Reading<Value> {
  readonly #events: readonly string[];
  readonly #pause: number | undefined;
  readonly #concerns: (event: LiveEvent) => boolean;

  /** Where `concerns` is given, other events of these types leave it as it is. */
  constructor(
    events: readonly string[],
    ask: () => Promise<Answer<Value>>,
    pause?: number,
    concerns: (event: LiveEvent) => boolean = () => true,
  ) {
    super(ask);
    this.#events = events;
    this.#pause = pause;
    this.#concerns = concerns;
  }

  /** Follows it until the returned function is called. */
  override run(): () => void {
    const soon = calmly(() => this.read(), this.#pause);
    const again = () => {
      soon.ask();
    };
    const stops = [
      stream.on(this.#events, (event) => {
        if (this.#concerns(event)) again();
      }),
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
