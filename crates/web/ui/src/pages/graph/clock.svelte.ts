import { played, type Speed, type Still } from '../../lib/graph/time';
import { isoOf } from '../../lib/api/graph';
import { live } from '../../state/live.svelte';
import { router } from '../../state/router.svelte';
import { setWhere } from './address';

/** A browser refuses more addresses than a few in a second. */
const NOTE_MS = 1_000;
/** Longer pauses are those of a tab that nobody saw. */
const LONGEST_FRAME_MS = 250;

/** The moment that is looked at: now, or one of the past that stands or plays on. */
export class Clock {
  /** Null for now. */
  moment = $state<number | null>(null);
  playing = $state(false);
  speed = $state<Speed>(10);
  /** The incident that was gone to last. */
  chosen = $state<string | null>(null);
  readonly #still: Still;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(still: Still) {
    this.#still = still;
  }

  /** Looks at a moment; the address follows a little later. */
  look(moment: number | null): void {
    this.moment = moment;
    if (moment === null) this.pause();
    this.#timer ??= setTimeout(() => {
      this.note();
    }, NOTE_MS);
  }

  /** The address of the moment, at once. */
  note(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (router.route.page !== 'graph') return;
    const at = this.moment === null ? '' : isoOf(this.moment);
    if ((router.route.where.at ?? '') !== at) setWhere({ at });
  }

  /** Looks at an incident from when on its cause can be seen. */
  goTo({ id, seen }: { readonly id: string; readonly seen: number }): void {
    this.pause();
    this.chosen = id;
    this.look(seen);
    this.note();
  }

  backToLive(): void {
    this.look(null);
    this.note();
  }

  play(): void {
    if (this.moment === null || this.playing) return;
    this.playing = true;
    let before = performance.now();
    const turn = (now: number) => {
      if (!this.playing || this.moment === null) return;
      const elapsed = Math.min(now - before, LONGEST_FRAME_MS);
      before = now;
      this.look(played(this.moment, elapsed, this.speed, live.serverNow, this.#still));
      this.#frame = requestAnimationFrame(turn);
    };
    this.#frame = requestAnimationFrame(turn);
  }

  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
  }

  stop(): void {
    this.pause();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
