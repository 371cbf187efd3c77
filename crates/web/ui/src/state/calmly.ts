/** Work that is asked for whenever something happens, and done soon, but not for each of it. */
export interface Calm {
  ask(): void;
  stop(): void;
}

/** Events come in groups: the first of a group waits for the others. */
export const GATHER_MS = 150;
/** From the end of one run to the next, unless it is said otherwise. */
export const PAUSE_MS = 1_000;

/** After a run that brought nothing. */
export const RETRY_MS = 5_000;

/**
 * Runs soon after it is asked to, one run at a time, and pauses in between. One that says `false` brought
 * nothing, and is tried again: nobody else may ask.
 */
export function calmly(run: () => Promise<unknown>, pause = PAUSE_MS): Calm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  let again = false;
  let stopped = false;

  const start = (ms: number) => {
    timer ??= setTimeout(() => void turn(), ms);
  };
  const turn = async () => {
    timer = undefined;
    running = true;
    again = false;
    const brought = await run();
    running = false;
    // What happened while it ran may be missing in what it brought.
    if (again && !stopped) start(pause);
    else if (brought === false && !stopped) start(RETRY_MS);
  };
  return {
    ask() {
      again = true;
      if (!running && !stopped) start(GATHER_MS);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
