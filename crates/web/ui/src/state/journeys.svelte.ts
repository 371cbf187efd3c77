import {
  JOURNEY_EVENTS,
  readFailing,
  readJourneys,
  type FailingJourney,
  type Journey,
} from '../lib/api/journeys';
import { calmly } from './calmly';
import { Listing } from './listing.svelte';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { Told } from './told.svelte';

/** The journeys: what comes of a run stands there soon after. */
export class JourneyList extends Listing<Journey> {
  constructor() {
    super(readJourneys);
  }

  /** Follows them until the returned function is called. */
  override run(): () => void {
    const soon = calmly(() => this.read());
    const again = () => {
      soon.ask();
    };
    const stops = [
      stream.on(JOURNEY_EVENTS, again),
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
}

/** Which journeys are failing, for those who show what they cross. */
export class Failing {
  readonly #told = new Told(
    JOURNEY_EVENTS.filter((kind) => kind !== 'journey:run_finished'),
    readFailing,
  );
  readonly items: readonly FailingJourney[] = $derived(this.#told.value?.items ?? []);

  run(): () => void {
    return this.#told.run();
  }
}
