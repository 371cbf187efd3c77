import type { Failure } from '../lib/api/client';
import { tryFormat, type Trial, type TrialAnswer } from '../lib/api/services';

/** Somebody who types is not answered at each key: the server takes only so many in a minute. */
export const TRIAL_WAIT_MS = 700;

/** Tries a format out while somebody writes it. */
export class Trying {
  answer = $state.raw<TrialAnswer | null>(null);
  failure = $state.raw<Failure | null>(null);
  busy = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  /** Tries this one soon; null tries nothing, and forgets what was found. */
  want(trial: Trial | null): void {
    this.stop();
    if (trial === null) {
      this.answer = this.failure = null;
      return;
    }
    this.busy = true;
    this.#later(trial, TRIAL_WAIT_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
    this.busy = false;
  }

  #later(trial: Trial, ms: number): void {
    this.#timer = setTimeout(() => void this.#try(trial), ms);
  }

  async #try(trial: Trial): Promise<void> {
    const turn = this.#turn;
    const answer = await tryFormat(trial);
    if (turn !== this.#turn) return;
    this.failure = answer.ok ? null : answer.failure;
    this.answer = answer.ok ? answer.value : null;
    const wait = this.failure?.status === 429 ? this.failure.retryAfter : null;
    // Too many for now: it goes on by itself.
    if (wait !== null) this.#later(trial, wait * 1_000);
    else this.busy = false;
  }
}
