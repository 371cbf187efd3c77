import type { Light } from '../lib/connection';

/** Shorter waits are not worth drawing anything that goes away at once. */
export const MOMENT_MS = 250;
/** After so long it is the server that is waited for, and the person is told. */
export const LONG_MS = 3_000;

export type Wait = 'none' | 'moment' | 'long';

/** Whether the server is heard, from time to time at least. */
export function isHeard({ kind }: Light): boolean {
  return kind === 'live' || kind === 'superseded';
}

/** Something that is loaded when it is wanted: how long that takes, whether it failed, and again. */
export class Arrival<Value> {
  value = $state.raw<Value | null>(null);
  failed = $state(false);
  wait = $state<Wait>('none');
  readonly #load: () => Promise<Value>;
  /** What an earlier turn brings is nobody's any more. */
  #turn = 0;
  #timers: ReturnType<typeof setTimeout>[] = [];
  #heard = true;
  /** The server was silent since the load began, so its failure says nothing about the next. */
  #wasSilent = false;

  constructor(load: () => Promise<Value>) {
    this.#load = load;
  }

  /** Loads it; the returned function leaves it. */
  run(): () => void {
    void this.load();
    return () => {
      this.#turn += 1;
      this.#rest();
    };
  }

  /** Says whether it came; what fails only because the server was silent is tried again. */
  load(): Promise<boolean> {
    this.failed = false;
    this.#count();
    return this.retry();
  }

  /** The same without a word: what is said of the failure stays until it came. */
  async retry(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.#wasSilent = !this.#heard;
    try {
      const value = await this.#load();
      if (turn !== this.#turn) return true;
      this.value = value;
      this.failed = false;
    } catch {
      if (turn !== this.#turn) return true;
      if (this.#heard && this.#wasSilent) return this.load();
      this.failed = true;
    }
    this.#rest();
    return !this.failed;
  }

  /** What failed while the server was silent is loaded again as soon as it is heard. */
  hear(heard: boolean): void {
    const isBack = heard && !this.#heard;
    this.#heard = heard;
    if (!heard) this.#wasSilent = true;
    if (isBack && this.failed) void this.load();
  }

  #count(): void {
    this.#rest();
    this.#timers = [
      setTimeout(() => (this.wait = 'moment'), MOMENT_MS),
      setTimeout(() => (this.wait = 'long'), LONG_MS),
    ];
  }

  #rest(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
    this.wait = 'none';
  }
}
