import { RANGE_MS } from './chart';
import type { Range } from './api/dependencies';

/** The stretch of time that a picture shows. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A mark on the axis, as a part of its width. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** About six marks in each, so that they fit on a telephone. */
const STEP: Record<Range, number> = {
  '1h': 10 * MINUTE,
  '6h': HOUR,
  '24h': 4 * HOUR,
  '7d': DAY,
  '30d': 5 * DAY,
};
/** So many times a picture moves while its whole width passes. */
const MOVES = 1_000;
/** A mark nearer to the end than this would run into the word "now". */
const EDGE = 0.04;

/** The span that ends now; it moves on in small steps, not with every second. */
export function spanOf(range: Range, now: number): Span {
  const step = RANGE_MS[range] / MOVES;
  const to = Math.ceil(now / step) * step;
  return { from: to - RANGE_MS[range], to };
}

/** Where a moment lies, as a part of the width; what lies outside is at the edge. */
export function placeOf(time: number, { from, to }: Span): number {
  return Math.min(Math.max((time - from) / Math.max(to - from, 1), 0), 1);
}

export function timeAt(part: number, { from, to }: Span): number {
  return from + Math.min(Math.max(part, 0), 1) * (to - from);
}

/** Marks at round times of the clock on the wall, whose distance to UTC is given in minutes. */
export function ticks(range: Range, span: Span, zone: string | undefined = undefined): Tick[] {
  const step = STEP[range];
  const shift = offset(span.to, zone);
  const first = Math.ceil((span.from + shift) / step) * step - shift;
  const label = labeller(range, zone);
  const marks: Tick[] = [];
  for (let time = first; time <= span.to; time += step) {
    const at = placeOf(time, span);
    if (at >= EDGE / 2 && at <= 1 - EDGE) marks.push({ at, label: label(time) });
  }
  return marks;
}

/** A moment as precisely as the range can show it. */
export function clock(time: number, range: Range, zone?: string): string {
  const short = range === '1h' || range === '6h';
  return new Intl.DateTimeFormat('en-GB', {
    ...(short ? { timeStyle: 'medium' } : { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).format(time);
}

function labeller(range: Range, timeZone: string | undefined): (time: number) => string {
  const days = range === '7d' || range === '30d';
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(days ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' }),
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  return (time) => format.format(time);
}

/** How far the clock on the wall is ahead of UTC. */
function offset(time: number, timeZone: string | undefined): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric',
    hourCycle: 'h23',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(time);
  const part = (type: string) => Number(parts.find((found) => found.type === type)?.value ?? 0);
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(time / 1_000) * 1_000;
}
