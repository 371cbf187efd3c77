import { currentSession, noteSignedOut } from '../lib/api/client';
import { Hearers, type Hearer } from '../lib/live/hearers';
import { join, joinAlone, type Joined } from '../lib/live/join';
import type { Link } from '../lib/live/link';
import type { Ears } from '../lib/live/tab';
import { onReturn, readAgain, REFRESH_MS } from './refresh';

const TICK_MS = 1_000;

/** What happens, as it happens: this tab's part in the one connection that all tabs share. */
class Stream {
  link = $state.raw<Link | null>(null);
  /** Since when it is waited for that anything comes. */
  waitingSince = $state(Date.now());
  readonly #hearers = new Hearers();
  #joined: Joined | null = null;
  /** The session whose streams are followed. */
  #session = currentSession();
  readonly #ears: Ears = {
    changed: (link) => {
      // While another browser has it, what is shown is read from time to time.
      if (this.link?.phase.kind === 'superseded') this.waitingSince = Date.now();
      this.link = link;
      if (link?.phase.kind === 'signed-out') noteSignedOut(this.#session);
    },
    happened: (events, reload) => {
      this.#hearers.tell(events, reload);
      // What has no events is old too when nobody can say what was missed.
      if (reload === 'reset') readAgain();
    },
  };

  /** Follows the streams of a person until the returned function is called. */
  run(user: string): () => void {
    this.#session = currentSession();
    this.waitingSince = Date.now();
    this.#joined = join(user, this.#ears, () => {
      this.#goAlone();
    });
    const timers = [
      setInterval(() => this.#joined?.tab.tick(document.visibilityState === 'visible'), TICK_MS),
      setInterval(() => { this.#readInstead(); }, REFRESH_MS),
    ];
    const stop = onReturn(() => {
      this.tryNow();
    });
    return () => {
      for (const timer of timers) clearInterval(timer);
      stop();
      this.#joined?.leave();
      this.#joined = null;
    };
  }

  /** Hears of these types of events until the returned function is called. */
  on(types: readonly string[], hearer: Hearer): () => void {
    return this.#hearers.on(types, hearer);
  }

  /**
   * Calls back when a page that lives on events has to read what it shows: when events begin to
   * come, when some were missed for good, and from time to time while another browser has them.
   */
  onReload(reload: () => void): () => void {
    return this.#hearers.onReload(reload);
  }

  /** Tries at once what would be tried later. */
  tryNow(): void {
    this.#joined?.tab.tryNow();
  }

  /** Takes the connection back from another browser. */
  takeOver(): void {
    this.#joined?.tab.takeOver();
  }

  #readInstead(): void {
    const superseded = this.link?.phase.kind === 'superseded';
    if (superseded && document.visibilityState === 'visible') this.#hearers.tell([], 'reset');
  }

  #goAlone(): void {
    this.#joined?.leave();
    this.#joined = joinAlone(this.#ears);
  }
}

export const stream = new Stream();
