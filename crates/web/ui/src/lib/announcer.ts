/** What is read out: at most one message in five seconds, the newest of the largest. */
export interface Announcer {
  readonly text: string;
  readonly spokenAt: number | null;
  readonly pending: { readonly message: string; readonly size: Size } | null;
}

/** What is small is one of many: a service, of all those that one cause takes down. */
export type Size = 'small' | 'large';

export const ANNOUNCE_INTERVAL_MS = 5_000;

export const silent: Announcer = { text: '', spokenAt: null, pending: null };

/** Takes a message: it is spoken at once when the line was quiet, else it waits its turn. */
export function announce(announcer: Announcer, message: string, now: number, size: Size = 'large'): Announcer {
  const isPassed = size === 'small' && announcer.pending?.size === 'large';
  return release(isPassed ? announcer : { ...announcer, pending: { message, size } }, now);
}

/** Speaks what waits, when its time has come. Called with every tick. */
export function release(announcer: Announcer, now: number): Announcer {
  const { pending, spokenAt } = announcer;
  if (pending === null) return announcer;
  const since = spokenAt === null ? Infinity : now - spokenAt;
  // A clock that was set back must not silence the line for hours.
  if (since >= 0 && since < ANNOUNCE_INTERVAL_MS) return announcer;
  return { text: pending.message, spokenAt: now, pending: null };
}
