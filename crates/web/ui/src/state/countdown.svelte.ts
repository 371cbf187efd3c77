import { secondsLeft } from '../lib/wait';

const TICK_MS = 250;

/** Counts seconds down to nothing. */
export class Countdown {
  seconds = $state(0);
  #timer: ReturnType<typeof setInterval> | undefined;

  start(seconds: number): void {
    const until = Date.now() + seconds * 1000;
    this.stop();
    this.seconds = seconds;
    this.#timer = setInterval(() => {
      this.seconds = secondsLeft(until, Date.now(), seconds);
      if (this.seconds === 0) this.stop();
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
