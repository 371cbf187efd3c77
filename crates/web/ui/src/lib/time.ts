const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NO_BREAK = '\u00a0';
const THIN = '\u202f';

/** How long ago something was, in one unit: "just now", "42 s ago", "3 h ago". */
export function ago(then: number, now: number): string {
  const age = Math.max(now - then, 0);
  return age < 2 * SECOND ? 'just now' : `${span(age)} ago`;
}

/** How far ahead something is, in one unit: "in 6 d"; what lies behind is told as its age. */
export function until(then: number, now: number): string {
  const ahead = then - now;
  if (ahead < SECOND) return ago(then, now);
  // To the nearest, so that what lasts fourteen days does not say thirteen at once.
  const unit = ahead < MINUTE ? SECOND : ahead < HOUR ? MINUTE : ahead < 2 * DAY ? HOUR : DAY;
  return `in ${span(Math.round(ahead / unit) * unit)}`;
}

/** A stretch of time in its largest whole unit. */
export function span(ms: number): string {
  const unit = (size: number, name: string) => `${grouped(ms / size)}${NO_BREAK}${name}`;
  if (ms < MINUTE) return unit(SECOND, 's');
  if (ms < HOUR) return unit(MINUTE, 'min');
  if (ms < 2 * DAY) return unit(HOUR, 'h');
  return unit(DAY, 'd');
}

/**
 * For how long something is as it is: "45 s". Where nothing is known since some moment it stands still
 * there, and says so: "35 s at 03:12:40".
 */
export function lasted(since: number, known: number, now: number, zone?: string): string {
  const lasts = span(Math.max(known - since, 0));
  return known < now ? `${lasts} at ${sinceTime(known, now, zone)}` : lasts;
}

/** A measured latency with as many digits as mean something. */
export function latency(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  if (ms === 0) return `0${NO_BREAK}ms`;
  if (ms >= 10 * SECOND) return `${(ms / SECOND).toFixed(0)}${NO_BREAK}s`;
  if (ms >= SECOND) return `${(ms / SECOND).toFixed(1)}${NO_BREAK}s`;
  if (ms >= 100) return `${ms.toFixed(0)}${NO_BREAK}ms`;
  return `${ms.toFixed(ms < 1 ? 2 : 1)}${NO_BREAK}ms`;
}

type Style = Pick<Intl.DateTimeFormatOptions, 'dateStyle' | 'timeStyle'>;

/** Made once each: a table of hundreds of times would feel it, and so would every frame of the past. */
const formats = new Map<string, Intl.DateTimeFormat>();

function format(time: number, style: Style, zone: string | undefined): string {
  const key = `${style.dateStyle ?? ''} ${style.timeStyle ?? ''} ${zone ?? ''}`;
  const known = formats.get(key)
    ?? new Intl.DateTimeFormat('en-GB', { ...style, ...(zone === undefined ? {} : { timeZone: zone }) });
  formats.set(key, known);
  return known.format(time);
}

/** The absolute time that stands behind a relative one. */
export function absolute(iso: string, zone?: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : format(time, { dateStyle: 'medium', timeStyle: 'long' }, zone);
}

/** A day and a time of it, for what does not depend on seconds. */
export function moment(iso: string, zone?: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : format(time, { dateStyle: 'medium', timeStyle: 'short' }, zone);
}

/** The short name of the zone in which times are shown: "GMT-5". */
export function zoneName(iso: string, zone?: string): string {
  const style = { timeZoneName: 'short', ...(zone === undefined ? {} : { timeZone: zone }) } as const;
  const parts = new Intl.DateTimeFormat('en-GB', style).formatToParts(Date.parse(iso));
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** A moment for who reads it elsewhere: "17 Nov 2026, 02:27 GMT-5 (07:27 UTC)". */
export function zoned(iso: string, zone?: string): string {
  if (Number.isNaN(Date.parse(iso))) return iso;
  const [local, utc] = [moment(iso, zone), moment(iso, 'UTC')];
  if (local === utc) return `${local} UTC`;
  const [day = '', time = ''] = utc.split(', ');
  return `${local} ${zoneName(iso, zone)} (${local.startsWith(day) ? time : utc} UTC)`;
}

/** The same to the second, for what comes several times a minute. */
export function second(iso: string, zone?: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : format(time, { dateStyle: 'medium', timeStyle: 'medium' }, zone);
}

/** Since when something lasts: the time of day, with its day where that is another one. */
export function sinceTime(then: number, now: number, zone?: string): string {
  const day = (time: number) => format(time, { dateStyle: 'medium' }, zone);
  if (day(then) !== day(now)) return moment(new Date(then).toISOString(), zone);
  return format(then, { timeStyle: 'medium' }, zone);
}

/** Digits in groups of three, by a thin space that does not break: 1 204. */
export function grouped(value: number): string {
  return Math.trunc(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** How much of a list is shown: "3 users", "1 of 3 users". */
export function counted(shown: number, total: number, one: string, many = `${one}s`): string {
  const all = `${grouped(total)} ${total === 1 ? one : many}`;
  return shown === total ? all : `${grouped(shown)} of ${all}`;
}

/** A smaller difference is the network's, not the clocks'. */
export const SKEW_LIMIT_MS = 2_000;

/** How the browser's clock differs from the server's, or null when it does not matter. */
export function skew(server: number, browser: number): string | null {
  const difference = browser - server;
  if (!(Math.abs(difference) > SKEW_LIMIT_MS)) return null;
  return `${span(Math.abs(difference))} ${difference > 0 ? 'ahead of' : 'behind'} the server`;
}
