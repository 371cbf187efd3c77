import { FILE_EVENTS, readFile, readFiles, type Transcript } from '../lib/api/files';
import { LIST_LIMIT } from '../lib/api/list';
import type { LiveEvent } from '../lib/live/messages';
import { calmly } from './calmly';
import { Listing } from './listing.svelte';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';

const PAGE = 50;

/** One's own transcripts, newest first: what happens to one stands there soon after. */
export class Files extends Listing<Transcript> {
  constructor() {
    super((cursor) => readFiles(cursor, cursor === null ? shown() : PAGE));
    // What is read again is all that is shown, as far as one answer holds it.
    const shown = () => Math.min(Math.max(this.items?.length ?? 0, PAGE), LIST_LIMIT);
  }

  /** Follows them until the returned function is called. */
  override run(): () => void {
    const soon = calmly(() => this.read());
    const again = () => {
      soon.ask();
    };
    const stops = [
      stream.on(FILE_EVENTS, (event) => {
        if (!this.#isBeyond(event)) again();
      }),
      stream.onReload(again),
      onReturn(again),
      onReadAgain(again),
    ];
    void this.read();
    return () => {
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Follows one that stands beyond what one answer holds by itself; says whether it is such a one. */
  #isBeyond({ type, file_id: id }: LiveEvent): boolean {
    const place = this.items?.findIndex((file) => file.id === id) ?? -1;
    if (place < LIST_LIMIT || typeof id !== 'string') return false;
    if (type === 'file_removed') this.drop(id);
    else void this.#readOne(id);
    return true;
  }

  async #readOne(id: string): Promise<void> {
    const answer = await readFile(id);
    if (answer.ok) this.put(answer.value);
    else if (answer.failure.status === 404) this.drop(id);
  }
}
