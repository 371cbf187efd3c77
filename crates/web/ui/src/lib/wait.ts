/** Whole seconds until a time; a clock that was set back does not make the wait longer. */
export function secondsLeft(until: number, now: number, limit: number): number {
  return Math.min(Math.max(Math.ceil((until - now) / 1000), 0), limit);
}

/** From here on nobody counts seconds, */
const MINUTES_FROM_S = 100;
/** minutes, */
const HOURS_FROM_S = 100 * 60;
/** or hours. */
const DAYS_FROM_S = 48 * 3_600;

export function waitText(seconds: number): string {
  if (seconds < MINUTES_FROM_S) return `${String(seconds)} s`;
  if (seconds < HOURS_FROM_S) return `${String(Math.ceil(seconds / 60))} min`;
  if (seconds < DAYS_FROM_S) return `${String(Math.ceil(seconds / 3_600))} h`;
  return `${String(Math.ceil(seconds / 86_400))} days`;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
