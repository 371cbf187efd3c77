import { readActivity, type AskedChanges, type Change } from '../lib/api/activity';
import { CHANGE_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import { Listing } from './listing.svelte';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';

/** What a page of changes holds. */
const PAGE = 100;

/** Changes that were asked for, newest first: what happens stands on top soon after. */
export class Activity extends Listing<Change> {
  constructor(asked: () => AskedChanges) {
    super((cursor) => readActivity(asked(), cursor, PAGE));
  }

  /** Follows them until the returned function is called. */
  override run(): () => void {
    const soon = calmly(() => this.read());
    const again = () => {
      soon.ask();
    };
    const stops = [
      stream.on(CHANGE_EVENTS, again),
      stream.onReload(again),
      onReturn(again),
      onReadAgain(again),
    ];
    return () => {
      soon.stop();
      for (const stop of stops) stop();
    };
  }
}
