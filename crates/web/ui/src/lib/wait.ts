/** Whole seconds until a time; a clock that was set back does not make the wait longer. */
export function secondsLeft(until: number, now: number, limit: number): number {
  return Math.min(Math.max(Math.ceil((until - now) / 1000), 0), limit);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
