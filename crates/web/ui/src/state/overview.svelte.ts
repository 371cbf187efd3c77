import { readNow, type Now } from '../lib/api/now';
import { GRAPH_EVENTS, told } from '../lib/services';
import { stream } from './stream.svelte';
import { Told } from './told.svelte';
import { voice } from './voice.svelte';

/** What is broken and how many are how, for the line above every page and for the page Now. */
class Overview extends Told<Now> {
  constructor() {
    super(GRAPH_EVENTS, readNow);
  }

  /** Null until it is known. */
  get now(): Now | null {
    return this.value;
  }

  override run(): () => void {
    const stops = [
      stream.on(GRAPH_EVENTS, (event) => {
        const news = told(event);
        if (news !== null) voice.say(news);
      }),
      super.run(),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

export const overview = new Overview();
