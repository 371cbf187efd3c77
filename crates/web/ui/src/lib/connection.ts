import { sinceTime } from './time';

/**
 * How far what was read from time to time can be trusted, as a machine without a clock: `now` is
 * an argument. What comes by itself has a machine of its own (`live/link.ts`).
 */
export interface Connection {
  /** When data last came, or null before the first time. */
  readonly lastSuccess: number | null;
  /** Failures in a row since then. */
  readonly failures: number;
  /** When the next read is due. */
  readonly nextRead: number;
}

export type Light =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting'; readonly seconds: number }
  /** `next` is in how many seconds the server is asked again, where that is known. */
  | { readonly kind: 'stale'; readonly seconds: number; readonly since: number; readonly next?: number }
  /** Another browser of the same person is live; this one reads from time to time. */
  | { readonly kind: 'superseded'; readonly since: number };

export const READ_INTERVAL_MS = 15_000;
export const STALE_AFTER_MS = 30_000;
export const BACKOFF_FIRST_MS = 1_000;
export const BACKOFF_LIMIT_MS = 15_000;
/** Somebody looks at it and waits: a server that is back is found within five seconds, also by the last of many. */
export const SEEN_LIMIT_MS = 4_000;

export function start(now: number): Connection {
  return { lastSuccess: null, failures: 0, nextRead: now };
}

export function succeed(now: number): Connection {
  return { lastSuccess: now, failures: 0, nextRead: now + READ_INTERVAL_MS };
}

/** `seen` is whether somebody looks at it. */
export function fail(connection: Connection, now: number, seen: boolean): Connection {
  const failures = connection.failures + 1;
  const wait = Math.min(backoff(failures), seen ? SEEN_LIMIT_MS : BACKOFF_LIMIT_MS);
  return { ...connection, failures, nextRead: now + wait };
}

/** 1, 2, 4, 8 and then 15 s. */
export function backoff(failures: number): number {
  const doublings = Math.min(Math.max(failures - 1, 0), 10);
  return Math.min(BACKOFF_FIRST_MS * 2 ** doublings, BACKOFF_LIMIT_MS);
}

/** Why what is shown is not what is; null while it is. */
export function trustText(light: Light, now: number, zone?: string): string | null {
  switch (light.kind) {
    case 'stale':
      return `Old data since ${sinceTime(light.since, now, zone)}: do not trust what you see`;
    case 'superseded':
      return `Another browser of yours is live since ${sinceTime(light.since, now, zone)}. This one reads every 15 s`;
    default:
      return null;
  }
}

/** Nothing came since then; the next try is due `until` then. */
export function stale(since: number, now: number, until: number | null = null): Light {
  const light = { kind: 'stale' as const, seconds: Math.floor((now - since) / 1000), since };
  return until === null ? light : { ...light, next: secondsTo(until, now) };
}

/** Until the next try; none where it is under way. */
export function secondsTo(until: number, now: number): number {
  return Math.max(Math.ceil((until - now) / 1000), 0);
}

/**
 * A wall clock is used because it goes on while a laptop sleeps; it can also be set back, and
 * then a due time that lies further off than any wait counts as reached.
 */
export function isDue(connection: Connection, now: number): boolean {
  const wait = connection.nextRead - now;
  return wait <= 0 || wait > Math.max(READ_INTERVAL_MS, BACKOFF_LIMIT_MS);
}

export function light(connection: Connection, now: number): Light {
  const { lastSuccess, failures, nextRead } = connection;
  // Before the first data there is nothing on the screen that could be stale.
  if (lastSuccess !== null && now - lastSuccess > STALE_AFTER_MS) {
    return stale(lastSuccess, now, failures > 0 ? nextRead : null);
  }
  if (failures > 0) return { kind: 'reconnecting', seconds: secondsTo(nextRead, now) };
  return { kind: lastSuccess === null ? 'connecting' : 'live' };
}

/** Of something on the page that is asked for in vain since then; null while it is not. */
export function lightOfShown(failingSince: number | null, now: number): Light {
  const isOld = failingSince !== null && now - failingSince > STALE_AFTER_MS;
  return isOld ? stale(failingSince, now) : { kind: 'live' };
}

/** The last moment of which anything is known: nobody can say what lasts beyond it. */
export function knownUntil(light: Light, now: number): number {
  return light.kind === 'stale' ? light.since : now;
}

const BY_TRUST: readonly Light['kind'][] = [
  'live',
  'connecting',
  'superseded',
  'reconnecting',
  'stale',
];

/**
 * Of two lights the one that promises less: of two that wait the one that waits longer, of two that are stale
 * the one that is older, which is stale before the other, so that the time since when does not jump.
 */
export function lesser(one: Light, other: Light): Light {
  const difference = BY_TRUST.indexOf(one.kind) - BY_TRUST.indexOf(other.kind);
  if (difference !== 0) return difference > 0 ? one : other;
  const waitsLonger = one.kind === 'reconnecting' && other.kind === 'reconnecting' && other.seconds > one.seconds;
  const isOlder = one.kind === 'stale' && other.kind === 'stale' && other.since < one.since;
  return waitsLonger || isOlder ? other : one;
}

/**
 * The light of a server that is heard by itself and read from time to time. Silence is noticed sooner, and
 * says since when better than a reading, which may have been some seconds before it.
 */
export function lightOfServer(heard: Light, read: Light): Light {
  return heard.kind === 'stale' ? heard : lesser(heard, read);
}

/** When anything last came: by itself, and by reading. */
export interface Heard {
  readonly stream: number | null;
  readonly read: number | null;
}

/**
 * The light of a browser that says its network is gone; `before` is what was heard by then, null while it has
 * not said so. It is believed until something comes all the same: a server on this very machine needs none.
 */
export function lightOfNetwork(light: Light, before: Heard | null, heard: Heard): Light {
  const came = before === null || before.stream !== heard.stream || before.read !== heard.read;
  return came ? light : lesser(light, { kind: 'reconnecting', seconds: 0 });
}
