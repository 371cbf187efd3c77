import type { AccessForm } from '../../lib/api/accounts';
import { readAccessForm, requestAccess } from '../../lib/api/entry';
import type { Failure } from '../../lib/api/client';
import { holdBack, isStale } from '../../lib/form-age';
import { pause } from '../../lib/wait';
import { keepFresh } from '../../state/refresh';

/** The form that the server signed: each can be sent once, and not too soon nor too late. */
export class SignedForm {
  #stamp: string | null = null;
  #loadedAt = 0;

  run(): () => void {
    void this.#load();
    return keepFresh(() => {
      if (this.#stamp === null || isStale(this.#loadedAt, Date.now())) void this.#load();
    });
  }

  /** Sends it, and says why it was refused; null when it was received. */
  async send(asked: Omit<AccessForm, 'client_ts'>): Promise<Failure | null> {
    const failure = await this.#post(asked);
    // The server was restarted or the laptop slept: a new form does what the old one could not.
    if (failure?.code === 'form_expired') return this.#post(asked);
    return failure;
  }

  async #post(asked: Omit<AccessForm, 'client_ts'>): Promise<Failure | null> {
    if (this.#stamp === null) {
      const missing = await this.#load();
      if (missing !== null) return missing;
    }
    await pause(holdBack(this.#loadedAt, Date.now()));
    const answer = await requestAccess({ ...asked, client_ts: this.#stamp ?? '' });
    this.#stamp = null;
    void this.#load();
    return answer.ok ? null : answer.failure;
  }

  async #load(): Promise<Failure | null> {
    const answer = await readAccessForm();
    if (!answer.ok) return answer.failure;
    this.#stamp = answer.value.client_ts;
    this.#loadedAt = Date.now();
    return null;
  }
}
