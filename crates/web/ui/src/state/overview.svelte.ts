import type { Failure } from '../lib/api/client';
import { readNow, type Now } from '../lib/api/now';
import { GRAPH_EVENTS, told } from '../lib/services';
import { calmly } from './calmly';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { voice } from './voice.svelte';

/** What is broken and how many are how, for the line above every page and for the page Now. */
class Overview {
  /** Null until it is known. */
  now = $state.raw<Now | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  #turn = 0;

  run(): () => void {
    const soon = calmly(() => this.read());
    const ask = () => {
      soon.ask();
    };
    const stops = [
      stream.on(GRAPH_EVENTS, (event) => {
        const news = told(event);
        if (news !== null) voice.say(news);
        soon.ask();
      }),
      stream.onReload(ask),
      onReturn(ask),
      onReadAgain(ask),
    ];
    soon.ask();
    return () => {
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Says whether it was read. Of two reads that are under way the later one counts. */
  async read(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    const answer = await readNow();
    if (turn !== this.#turn) return true;
    this.reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.now = answer.value;
    return answer.ok;
  }
}

export const overview = new Overview();
