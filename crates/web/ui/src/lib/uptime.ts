import type { UptimeWindow } from './api/services';
import { span } from './time';

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
  /** Most of the span lies before what is known, so that the number says little of it. */
  readonly thin: boolean;
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
    thin: absent_ms > (Date.parse(window.to) - Date.parse(window.from)) / 2,
  };
}

const lasted = (ms: number) => (ms < 1_000 ? 'under 1\u00a0s' : span(ms));
