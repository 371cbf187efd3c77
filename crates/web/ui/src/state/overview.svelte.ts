import type { Slice } from '../lib/api/accounts';
import { readServices, type Service } from '../lib/api/services';
import { SERVICE_EVENTS, told } from '../lib/services';
import { calmly } from './calmly';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { voice } from './voice.svelte';

/** Enough to see what is wrong at a glance, little enough to be read at every change. */
const LIMIT = 50;

/** The worst of what is watched, for the line that stands above every page. */
class Overview {
  /** Null until it is known. */
  worst = $state.raw<Slice<Service> | null>(null);

  run(): () => void {
    const soon = calmly(() => this.#read());
    const ask = () => {
      soon.ask();
    };
    const stops = [
      stream.on(SERVICE_EVENTS, (event) => {
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

  async #read(): Promise<void> {
    const answer = await readServices({ sort: 'status' }, null, LIMIT);
    if (answer.ok) this.worst = answer.value;
  }
}

export const overview = new Overview();
