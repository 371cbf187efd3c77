/** Work that is asked for whenever something happens, and done soon, but not for each of it. */
export interface Calm {
  ask(): void;
  stop(): void;
}

/** Events come in groups: the first of a group waits for the others. */
export const GATHER_MS = 150;
/** From the end of one run to the next, unless it is said otherwise. */
export const PAUSE_MS = 1_000;
/** For what stands on the screen within two seconds of an event, also one that comes while it is read. */
export const BRISK_PAUSE_MS = 250;

/** After a run that brought nothing. */
export const RETRY_MS = 5_000;

/** The same, but its first run is at once. */
export function atOnce(run: () => Promise<unknown>, pause = PAUSE_MS): Calm {
  const calm = calmly(run, pause);
  void run().then((brought) => {
    if (brought === false) calm.ask();
  });
  return calm;
}

/**
 * Runs soon after it is asked to, one run at a time, and pauses in between. Whatever is asked after a run
 * began has another one; what was asked before it has not. One that says `false` brought nothing, and is
 * tried again: nobody else may ask.
 */
export function calmly(run: () => Promise<unknown>, pause = PAUSE_MS): Calm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Infinity;
  let rested = -Infinity;
  let running = false;
  let again = false;
  let stopped = false;

  /** The earlier of two times counts: who waits for another try is not made to wait for it. */
  const start = (at: number) => {
    if (stopped || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void turn(), at - Date.now());
  };
  const soon = () => {
    start(Math.max(Date.now() + GATHER_MS, rested + pause));
  };
  const turn = async () => {
    dueAt = Infinity;
    running = true;
    again = false;
    let brought: unknown = false;
    try {
      brought = await run();
    } finally {
      running = false;
      rested = Date.now();
      // What happened while it ran may be missing in what it brought.
      if (again) soon();
      else if (brought === false) start(rested + RETRY_MS);
    }
  };
  return {
    ask() {
      again = true;
      if (!running) soon();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
