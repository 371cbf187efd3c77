import {
  JOURNEY_EVENTS,
  readFailing,
  readJourneys,
  type FailingJourney,
  type Journey,
} from '../lib/api/journeys';
import { readAll } from '../lib/api/list';
import { calmly } from './calmly';
import { Listing } from './listing.svelte';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { Told } from './told.svelte';
import { together } from './together';

const PAUSE_MS = 5_000;

/** The journeys: what comes of a run stands there soon after. */
export class JourneyList extends Listing<Journey> {
  /** Which of them are wanted, the server is asked: it has those that are not here. */
  constructor(search: () => string) {
    super((cursor) => readJourneys(cursor, search()));
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

/** All journeys, for those who look for one. */
class KnownJourneys {
  readonly #told = new Told(JOURNEY_EVENTS, () => readAll((cursor) => readJourneys(cursor)), PAUSE_MS);
  readonly items: readonly Journey[] = $derived(this.#told.value ?? []);
  /** Keeps them true until the returned function is called. */
  readonly use = together(() => this.#told.run());
}

export const knownJourneys = new KnownJourneys();

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
