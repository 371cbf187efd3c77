import type { Answer, Failure } from '../lib/api/client';
import { checkJourney, type JourneyCheck, type Mistake } from '../lib/api/journeys';

/** Whoever types on is not asked about. */
export const LOOK_WAIT_MS = 250;
/** What nobody answered is asked again so much later. */
export const LOOK_AGAIN_MS = 5_000;

/** Has a journey looked over while somebody writes it. What was found of one text is no word about the next. */
export class Looking {
  /** What the text is as it stands now; null until that is known. */
  check = $state.raw<JourneyCheck | null>(null);
  /** Why that is not known; it is asked again. */
  failure = $state.raw<Failure | null>(null);
  /** What was found last: it stays in sight while somebody types on. */
  mistakes = $state.raw<readonly Mistake[]>([]);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;
  readonly #ask: (text: string) => Promise<Answer<JourneyCheck>>;

  constructor(ask: (text: string) => Promise<Answer<JourneyCheck>> = checkJourney) {
    this.#ask = ask;
  }

  /** Looks this one over soon: it is what is written now. */
  want(text: string): void {
    this.stop();
    this.check = null;
    this.failure = null;
    this.#later(text, LOOK_WAIT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
  }

  #later(text: string, ms: number): void {
    this.#timer = setTimeout(() => void this.#look(text), ms);
  }

  async #look(text: string): Promise<void> {
    const turn = this.#turn;
    const answer = await this.#ask(text);
    if (turn !== this.#turn) return;
    this.check = answer.ok ? answer.value : null;
    this.failure = answer.ok ? null : answer.failure;
    this.mistakes = this.check?.mistakes ?? [];
    if (this.failure === null) return;
    const wait = this.failure.retryAfter;
    this.#later(text, wait === null ? LOOK_AGAIN_MS : wait * 1_000);
  }
}
