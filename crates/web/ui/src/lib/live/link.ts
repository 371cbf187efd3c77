import { backoff, SEEN_LIMIT_MS, secondsTo, stale, type Light } from '../connection';

/**
 * The one connection to the event stream, as a machine without a clock: `now` is an argument.
 * Every tab is told its state, so times are those of the wall clock that all of them share.
 */
export interface Link {
  readonly phase: Phase;
  /** When anything last came over it, a sign of life included. */
  readonly heardAt: number | null;
  /** Failures in a row. */
  readonly failures: number;
  /** After how long the server wants to be asked again. */
  readonly retry: number | null;
}

export type Phase =
  | { readonly kind: 'connecting'; readonly since: number }
  | { readonly kind: 'open' }
  /** Broken; the next try is due then, and where somebody looks at it at `seenUntil`, which older tabs don't tell. */
  | { readonly kind: 'waiting'; readonly until: number; readonly seenUntil?: number }
  /** Another browser of the same person has it; only a click takes it back. */
  | { readonly kind: 'superseded'; readonly since: number }
  | { readonly kind: 'signed-out' };

/** So often the server is asked to give a sign of life. */
export const KEEPALIVE_S = 4;
/** One sign may be lost or late. What is silent for longer is dead, or as good as. */
export const SILENCE_MS = 2 * KEEPALIVE_S * 1_000 + 2_000;
/** A server that names a longer wait than this is asked again after this. */
export const RETRY_LIMIT_MS = 60_000;
/** As long as this, a tab may take to go on with what another one left. */
export const HANDOVER_MS = 2_000;
/** Those who lost it together do not come back together. */
export const JITTER = 0.25;

export function begin(now: number): Link {
  return { phase: { kind: 'connecting', since: now }, heardAt: null, failures: 0, retry: null };
}

/** Asks again, keeping what is known about how long nothing was heard. */
export function connect(link: Link, now: number): Link {
  return { ...link, phase: { kind: 'connecting', since: now } };
}

/** Its first byte came. The head of an answer says nothing: a proxy may send it, and keep the rest. */
export function opened(link: Link, now: number): Link {
  return { ...link, phase: { kind: 'open' }, heardAt: now, failures: 0 };
}

export function heard(link: Link, now: number): Link {
  return { ...link, heardAt: now };
}

export function told(link: Link, retry: number): Link {
  return { ...link, retry: Math.min(retry, RETRY_LIMIT_MS) };
}

/** It broke, or could not be made. `floor` is a wait that the server asked for in its refusal. */
export function lost(link: Link, now: number, chance: number, floor = 0): Link {
  const failures = link.failures + 1;
  // What the server said about coming again holds for the first try after it.
  const asked = failures === 1 ? link.retry : null;
  const after = (base: number) => now + Math.max(base * (1 + JITTER * chance), Math.min(floor, RETRY_LIMIT_MS));
  const until = after(asked ?? backoff(failures));
  const seenUntil = after(asked ?? Math.min(backoff(failures), SEEN_LIMIT_MS));
  return { ...link, failures, retry: null, phase: { kind: 'waiting', until, seenUntil } };
}

export function superseded(link: Link, now: number): Link {
  // From now on what is shown is read from time to time, so nothing ages by silence.
  return { ...link, failures: 0, heardAt: null, phase: { kind: 'superseded', since: now } };
}

export function signedOut(link: Link): Link {
  return { ...link, phase: { kind: 'signed-out' } };
}

/**
 * The wait is over, which is shorter where somebody looks at it. One that lies further off than any wait belongs
 * to a clock that was set back.
 */
export function isDue({ phase }: Link, now: number, seen = false): boolean {
  if (phase.kind !== 'waiting') return false;
  const wait = (seen ? seenUntilOf(phase) : phase.until) - now;
  return wait <= 0 || wait > RETRY_LIMIT_MS * (1 + JITTER);
}

/** Nothing came for so long that the other end must be gone, although nobody said so. */
export function isSilent({ phase, heardAt }: Link, now: number): boolean {
  if (phase.kind === 'connecting') return Math.abs(now - phase.since) > SILENCE_MS;
  if (phase.kind !== 'open') return false;
  return heardAt !== null && Math.abs(now - heardAt) > SILENCE_MS;
}

/**
 * What the light says; null is before anything is known of the connection. `shownSince` is when what is shown was
 * read, which ages where nothing ever came over it; null while nothing is shown.
 */
export function lightOf(link: Link | null, now: number, shownSince: number | null = null): Light {
  const heardAt = link?.heardAt ?? shownSince;
  const isOld = heardAt !== null && now - heardAt > SILENCE_MS;
  if (link === null) return isOld ? stale(heardAt, now) : { kind: 'connecting' };
  const { phase } = link;
  if (phase.kind === 'superseded') return { kind: 'superseded', since: phase.since };
  if (isOld) return stale(heardAt, now, nextTry(link, now));
  if (phase.kind === 'waiting') return { kind: 'reconnecting', seconds: secondsTo(seenUntilOf(phase), now) };
  if (phase.kind !== 'connecting') return { kind: 'live' };
  if (link.failures === 0 && link.heardAt === null) return { kind: 'connecting' };
  // Passing the connection on is no loss, as long as it takes no longer than a blink.
  const passedOn = link.failures === 0 && now - phase.since < HANDOVER_MS;
  return passedOn ? { kind: 'live' } : { kind: 'reconnecting', seconds: 0 };
}

/** When it is tried again by whoever looks at it; null where it is not broken as far as anybody knows. */
function nextTry({ phase, failures }: Link, now: number): number | null {
  if (phase.kind === 'waiting') return seenUntilOf(phase);
  return phase.kind === 'connecting' && failures > 0 ? now : null;
}

function seenUntilOf({ until, seenUntil = until }: Extract<Phase, { kind: 'waiting' }>): number {
  return seenUntil;
}
