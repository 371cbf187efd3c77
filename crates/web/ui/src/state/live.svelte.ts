import { readSystem, type Failure } from '../lib/api/client';
import {
  fail,
  isDue,
  knownUntil,
  lesser,
  light,
  lightOfNetwork,
  lightOfServer,
  lightOfShown,
  start,
  succeed,
  type Connection,
  type Heard,
} from '../lib/connection';
import { lightOf } from '../lib/live/link';
import { changes, type System } from '../lib/status';
import { onOffline, onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { voice } from './voice.svelte';

const TICK_MS = 1_000;

/** What the server last said about itself, and how far what is shown can be trusted. */
class Live {
  system = $state.raw<System | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  now = $state(Date.now());
  /** The browser's time when the server wrote its own: half way between question and answer. */
  readAt = $state(0);
  #connection = $state.raw<Connection>(start(Date.now()));
  /** When anything of the page was first read. */
  #firstRead = $state<number | null>(null);
  /** Where nothing ever comes over the stream, what is shown ages from here on. */
  readonly #shownSince = $derived(this.#firstRead === null ? null : Math.max(this.#firstRead, stream.waitingSince));
  /** What had been heard when the browser said that its network is gone. */
  #offline = $state.raw<Heard | null>(null);
  readonly #heard = $derived<Heard>({ stream: stream.link?.heardAt ?? null, read: this.#connection.lastSuccess });
  /** Since when each thing that the page is made of is asked for in vain. */
  #shown = $state.raw<readonly (() => number | null)[]>([]);
  /**
   * As good as the worst of all: what the page shows, what comes by itself, and what is read from time to
   * time.
   */
  readonly light = $derived(
    lesser(
      this.#shown.map((since) => lightOfShown(since(), this.now)).reduce(lesser, { kind: 'live' }),
      lightOfNetwork(
        lightOfServer(lightOf(stream.link, this.now, this.#shownSince), light(this.#connection, this.now)),
        this.#offline,
        this.#heard,
      ),
    ),
  );
  readonly stale = $derived(this.light.kind === 'stale');
  /** The time by the server's clock, so that a wrong one here does not matter. */
  readonly clock = $derived(this.#byServer(this.now));
  /** The same, but it stands still where nothing is known any more: by it, what lasts is measured. */
  readonly serverNow = $derived(this.stale ? this.#byServer(knownUntil(this.light, this.now)) : this.clock);

  run(): () => void {
    const timer = setInterval(() => {
      this.#tick();
    }, TICK_MS);
    const read = () => void this.read();
    const stops = [onReturn(read), onReadAgain(read), onOffline(() => { this.#lose(); })];
    this.#tick();
    return () => {
      clearInterval(timer);
      for (const stop of stops) stop();
    };
  }

  /** The page is no fresher than this reading, until the returned function is called. */
  shows(reading: { readonly failingSince: number | null }): () => void {
    const since = () => reading.failingSince;
    this.#shown = [...this.#shown, since];
    return () => {
      this.#shown = this.#shown.filter((one) => one !== since);
    };
  }

  async read(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    const answer = await readSystem();
    this.reading = false;
    this.now = Date.now();
    if (!answer.ok) {
      this.failure = answer.failure;
      this.#connection = fail(this.#connection, this.now, document.visibilityState === 'visible');
      return;
    }
    const change = changes(this.system, answer.value);
    if (change !== null) voice.say(change);
    this.system = answer.value;
    // Whole, as addresses hold whole milliseconds: a moment at an end of the past must not fall out of it by half of one.
    this.readAt = Math.round((answer.sentAt + answer.gotAt) / 2);
    this.failure = null;
    this.#connection = succeed(this.now);
    this.#firstRead ??= this.now;
  }

  /** Nobody waits for what can't come; a server on this very machine answers all the same. */
  #lose(): void {
    this.#offline = this.#heard;
    void this.read();
  }

  #byServer(time: number): number {
    if (this.system === null) return time;
    // A browser's clock may be set back; what was heard before the last reading lies before it.
    const since = time - this.readAt;
    return Date.parse(this.system.now) + (this.stale ? since : Math.max(since, 0));
  }

  #tick(): void {
    this.now = Date.now();
    voice.tick(this.now);
    if (isDue(this.#connection, this.now)) void this.read();
  }
}

export const live = new Live();
