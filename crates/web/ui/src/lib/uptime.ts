import type { Uptime, UptimeWindow } from './api/services';
import { sinceTime, span } from './time';

/** A part of a whole in percent, rounded down: what failed once is never told as 100 %. */
export function percent(part: number): string {
  if (!Number.isFinite(part)) return '–';
  const held = Math.min(Math.max(part, 0), 1) * 100;
  // A float may lie a hair below what it stands for.
  const floored = Math.floor(held * 100 + 1e-6) / 100;
  return `${floored === 100 ? '100' : floored.toFixed(2)}\u00a0%`;
}

/** How long something worked in a span, and what is to be known beside the number. */
export interface Worked {
  readonly window: string;
  readonly figure: string;
  /** What was not well, in a few words; empty when all was. */
  readonly bad: string;
  /** What the number does not cover; empty when it covers everything. */
  readonly gaps: string;
}

/** A span that is not longer by this factor tells nothing that a shorter one does not. */
const LONGER = 1.1;

/**
 * How long something worked in each span that is known as a whole. Those that reach back further all tell
 * the same: they stand once, by since when it is known.
 */
export function spans({ known_since, windows }: Uptime, now: number, zone?: string): Worked[] {
  const since = Date.parse(known_since);
  const isWhole = ({ from }: UptimeWindow) => Date.parse(from) >= since;
  const longer = windows.find((window) => !isWhole(window));
  const whole = windows.filter(isWhole).map(worked);
  const told = windows.filter(isWhole).at(-1);
  const longest = told === undefined ? 0 : Date.parse(told.to) - Date.parse(told.from);
  if (longer === undefined || now - since < longest * LONGER) return whole;
  const begun = { ...worked(longer), window: `since ${sinceTime(since, now, zone)}` };
  // What was before its time is no gap in what is told.
  return [...whole, { ...begun, gaps: worked({ ...longer, absent_ms: 0 }).gaps }];
}

export function worked(window: UptimeWindow): Worked {
  const { uptime, down_ms, degraded_ms, unknown_ms, absent_ms } = window;
  const parts = [
    down_ms > 0 ? `down ${lasted(down_ms)}` : '',
    degraded_ms > 0 ? `degraded ${lasted(degraded_ms)}` : '',
  ];
  const gaps = [
    unknown_ms > 0 ? `Nobody knows of ${lasted(unknown_ms)}.` : '',
    absent_ms > 0 ? `It was not there yet for ${lasted(absent_ms)} of it.` : '',
  ];
  return {
    window: window.window.replace(/(\d+)(\D+)/, '$1\u00a0$2'),
    figure: uptime === null ? '–' : percent(uptime),
    bad: parts.filter((part) => part !== '').join(', '),
    gaps: gaps.filter((part) => part !== '').join(' '),
  };
}

const lasted = (ms: number) => (ms < 1_000 ? 'under 1\u00a0s' : span(ms));
