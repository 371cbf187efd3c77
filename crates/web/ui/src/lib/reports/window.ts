import type { TimeWindow } from '../api/files';
import { zoneName } from '../time';

export const MAX_WINDOW_S = 7 * 86_400;

/** A time as a field for a day and a time of it has it, by the clock of whoever looks. */
export function localOf(iso: string | undefined): string {
  const time = Date.parse(iso ?? '');
  if (Number.isNaN(time)) return '';
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** What such a field says, as the server writes times; empty while it is not filled. */
export function isoOf(local: string): string {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(local) ? new Date(local).getTime() : NaN;
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
}

/** The window of an address, or what is wrong with it. */
export type Judged =
  | { readonly kind: 'none' }
  | { readonly kind: 'fit'; readonly window: TimeWindow }
  | { readonly kind: 'wrong'; readonly field: 'from' | 'to'; readonly problem: string };

export function judge(
  from: string | undefined,
  to: string | undefined,
  now: number,
  maxSeconds = MAX_WINDOW_S,
): Judged {
  const [begin, end] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  if (Number.isNaN(begin) && Number.isNaN(end)) return { kind: 'none' };
  if (Number.isNaN(begin)) return wrong('from', 'Say when it began too, or clear the end.');
  if (Number.isNaN(end)) return wrong('to', 'Say when it ended too, or clear the beginning.');
  if (end <= begin) return wrong('to', 'It must end after it began.');
  if (end > now) return wrong('to', 'It must have passed: nothing is recorded of the future.');
  if (end - begin > maxSeconds * 1_000) {
    return wrong('to', `At most ${String(Math.floor(maxSeconds / 86_400))} days are read.`);
  }
  const window = { from: new Date(begin).toISOString(), to: new Date(end).toISOString() };
  return { kind: 'fit', window };
}

/** A span in words: "15 Nov 2026, 21:00 – 21:40", with the second day where it is another. */
export function windowText({ from, to }: TimeWindow, zone?: string): string {
  const inZone = zone === undefined ? {} : { timeZone: zone };
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...inZone });
  const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', ...inZone });
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(begin) || Number.isNaN(end)) return `${from} – ${to}`;
  const [first, last] = [day.format(begin), day.format(end)];
  const ends = first === last ? clock.format(end) : `${last}, ${clock.format(end)}`;
  return `${first}, ${clock.format(begin)} – ${ends}`;
}

/** The same for who reads it elsewhere: "15 Nov 2026, 21:00 – 21:40 CET". */
export function zonedWindow(window: TimeWindow, zone?: string): string {
  return `${windowText(window, zone)} ${zoneName(window.from, zone)}`;
}

/** The same for one of the last days: "Today, 10:33 – 10:56". */
export function recentText(window: TimeWindow, now: number, zone?: string): string {
  const inZone = zone === undefined ? {} : { timeZone: zone };
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...inZone });
  const text = windowText(window, zone);
  return text
    .replace(day.format(now), 'Today')
    .replace(day.format(now - DAY_MS), 'Yesterday');
}

const DAY_MS = 86_400_000;

function wrong(field: 'from' | 'to', problem: string): Judged {
  return { kind: 'wrong', field, problem };
}
