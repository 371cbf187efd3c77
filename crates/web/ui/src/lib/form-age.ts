/**
 * The form to request access carries the server's signed time. One that comes back within three
 * seconds is taken for a machine's and dropped without a word, and one that is too old is refused.
 */
export const FORM_MIN_AGE_MS = 3_000;
/** The clocks of both sides and the way between them count, so a person's form waits a bit more. */
export const FORM_MARGIN_MS = 250;
/** Half of what the server takes, so that nobody meets the refusal. */
export const FORM_STALE_MS = 12 * 3_600_000;

export function isStale(loadedAt: number, now: number): boolean {
  const age = now - loadedAt;
  // A clock that was set back says nothing about the age.
  return age < 0 || age >= FORM_STALE_MS;
}

/** How long a form that was filled in at once, by the browser itself, is held back. */
export function holdBack(loadedAt: number, now: number): number {
  const needed = FORM_MIN_AGE_MS + FORM_MARGIN_MS;
  const age = now - loadedAt;
  return age < 0 ? needed : Math.max(needed - age, 0);
}
