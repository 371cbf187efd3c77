import { announce, release, silent, type Announcer } from '../lib/announcer';

const NOTICE_MS = 2_500;

/** What is read out to those who listen, and the short notice for those who look. */
class Voice {
  #announcer = $state.raw<Announcer>(silent);
  readonly text = $derived(this.#announcer.text);
  notice = $state<string | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(message: string): void {
    this.#announcer = announce(this.#announcer, message, Date.now());
  }

  /** Says one of many small things, unless something larger waits to be said. */
  mention(message: string): void {
    this.#announcer = announce(this.#announcer, message, Date.now(), 'small');
  }

  /** The answer to something the person just did: said and shown. */
  show(message: string): void {
    this.say(message);
    this.notice = message;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.notice = null;
    }, NOTICE_MS);
  }

  tick(now: number): void {
    this.#announcer = release(this.#announcer, now);
  }
}

export const voice = new Voice();
