import { readNow, type Now } from '../lib/api/now';
import { worsenedText } from '../lib/now';
import { GRAPH_EVENTS, told } from '../lib/services';
import { BRISK_PAUSE_MS } from './calmly';
import { stream } from './stream.svelte';
import { Told } from './told.svelte';
import { voice } from './voice.svelte';

/** What is broken and how many are how, for the line above every page and for the page Now. */
class Overview extends Told<Now> {
  /** What was last looked through for news. */
  #before: Now | null = null;

  constructor() {
    super(GRAPH_EVENTS, readNow, BRISK_PAUSE_MS);
  }

  /** Null until it is known. */
  get now(): Now | null {
    return this.value;
  }

  override async read(): Promise<boolean> {
    const read = await super.read();
    const news = this.#before && this.value && worsenedText(this.#before, this.value);
    this.#before = this.value;
    if (news !== null) voice.say(news);
    return read;
  }

  override run(): () => void {
    const stops = [
      stream.on(GRAPH_EVENTS, (event) => {
        const news = told(event);
        if (news !== null) voice.mention(news);
      }),
      super.run(),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

export const overview = new Overview();
