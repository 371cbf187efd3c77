import { ago, sinceTime } from '../time';

/** How far back the scrubber reaches. */
export const SPANS = ['1h', '6h', '24h', '7d'] as const;
export type Span = (typeof SPANS)[number];
export const DEFAULT_SPAN: Span = '1h';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

interface Measure {
  readonly ms: number;
  /** One press of an arrow. */
  readonly step: number;
}

export const MEASURES: Record<Span, Measure> = {
  '1h': { ms: HOUR, step: 10 * SECOND },
  '6h': { ms: 6 * HOUR, step: MINUTE },
  '24h': { ms: 24 * HOUR, step: 5 * MINUTE },
  '7d': { ms: 7 * 24 * HOUR, step: 30 * MINUTE },
};

export interface Window {
  readonly from: number;
  readonly to: number;
}

export const SPEEDS = [1, 10, 60] as const;
export type Speed = (typeof SPEEDS)[number];

export function spanOf(word: string | undefined): Span {
  return SPANS.find((span) => span === word) ?? DEFAULT_SPAN;
}

/** The moment of an address; null for now, and for what is no moment of the past. */
export function momentOf(text: string | undefined, now: number): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) || time >= now ? null : time;
}

/** Why an address that names a moment shows now instead; null where it does not. */
export function notThen(text: string | undefined, now: number): string | null {
  if ((text ?? '') === '' || momentOf(text, now) !== null) return null;
  const isLater = !Number.isNaN(Date.parse(text ?? ''));
  return isLater ? 'That moment is still to come: this is now' : 'The address named no moment: this is now';
}

/** What the scrubber spans: up to now, or around a moment that lies further back. */
export function windowOf(span: Span, moment: number | null, now: number): Window {
  const { ms } = MEASURES[span];
  if (moment === null || moment >= now - ms) return { from: now - ms, to: now };
  const to = Math.min(moment + ms / 2, now);
  return { from: to - ms, to };
}

/**
 * The window after another one: it follows the time while the moment is in reach of now, and else stays
 * where it is for as long as the moment is in it. So nothing runs away from a hand that holds its end.
 */
export function windowAfter(before: Window | null, span: Span, moment: number | null, now: number): Window {
  const { ms } = MEASURES[span];
  const isIn = before !== null && moment !== null && moment >= before.from && moment <= before.to;
  if (isIn && moment < now - ms && before.to - before.from === ms) return before;
  return windowOf(span, moment, now);
}

/** Where a moment stands in the window, from 0 to 1. */
export function partOf(moment: number, { from, to }: Window): number {
  return Math.min(Math.max((moment - from) / Math.max(to - from, 1), 0), 1);
}

/** The moment at a part of the window; its end is now where the window ends now. */
export function momentAt(part: number, { from, to }: Window, now: number): number | null {
  const moment = Math.round(from + Math.min(Math.max(part, 0), 1) * (to - from));
  return moment >= now - SECOND / 2 ? null : moment;
}

/** Where a key leads on the scrubber; undefined for a key that is none of its. */
export function stepped(
  key: string,
  shift: boolean,
  moment: number | null,
  span: Span,
  window: Window,
  now: number,
): number | null | undefined {
  const step = MEASURES[span].step * (shift ? 10 : 1);
  const here = moment ?? now;
  const to = (time: number) => {
    const bounded = Math.max(time, window.from);
    return bounded >= now ? null : bounded;
  };
  if (key === 'ArrowLeft' || key === 'ArrowDown') return to(here - step);
  if (key === 'ArrowRight' || key === 'ArrowUp') return moment === null ? null : to(here + step);
  if (key === 'Home') return window.from;
  return key === 'End' ? null : undefined;
}

/** No picture stands longer than this while the past is played faster than it went. */
export const STILL_MS = 1_500;

/** Between which changes a moment lies; null where that is not known. */
export type Still = (moment: number) => Window | null;

/** Where play has come to; null when it has come to now. What is still for long passes in a moment. */
export function played(from: number, elapsed: number, speed: Speed, now: number, still: Still): number | null {
  let [moment, left] = [from, elapsed];
  for (;;) {
    const stretch = speed === 1 ? null : still(moment);
    const end = Math.min(stretch?.to ?? Infinity, now);
    const pace = stretch === null ? speed : Math.max(speed, (end - stretch.from) / STILL_MS);
    const needs = (end - moment) / pace;
    if (needs > left) return moment + left * pace;
    if (end >= now) return null;
    [moment, left] = [end, left - needs];
  }
}

/** What the button that plays does. */
export function playText(speed: Speed): string {
  return speed === 1 ? 'Play as it went' : `Play ×${String(speed)}, skipping ahead where nothing changes`;
}

/** "03:12:40, 2 h ago", for the eye and the ear. */
export function momentText(moment: number, now: number, zone?: string): string {
  return `${sinceTime(moment, now, zone)}, ${ago(moment, now)}`;
}
