import type { Timeline } from './api/dependencies';
import { placeOf, type Span } from './axis';
import { stretches, WIDTH, type Stretch } from './chart';
import type { Status } from './status';
import { SHARES } from './strip';
import { span as lasting } from './time';

/** How high a lane is drawn; the page stretches it. */
export const TALL = 20;
/** The gap that runs through what is down. */
const NOTCH = 3;
/** The shortest outage is seen too. */
const LEAST = 3;
/** What is worse lies above what is better. */
const ORDER: readonly Status[] = ['healthy', 'skipped', 'unknown', 'degraded', 'down'];

/** One status of a lane, drawn in one path. */
export interface Paint {
  readonly status: Status;
  readonly path: string;
}

/** Where somebody is in the lanes. */
export interface Place {
  readonly lane: number;
  readonly segment: number;
}

/** What a timeline tells of a span: cut to it, and lasting until its end. */
export function segments(timeline: Timeline, span: Span): Stretch[] {
  const all = stretches({ ...timeline, to: new Date(Math.max(span.to, Date.parse(timeline.to))).toISOString() });
  const cut = all
    .map(({ status, from, to }) => ({ status, from: Math.max(from, span.from), to: Math.min(to, span.to) }))
    .filter(({ from, to }) => to > from);
  return joined(cut);
}

/** The drawing of a lane. What is narrower than a point on the screen is drawn once, not each time. */
export function paints(lane: readonly Stretch[], span: Span): Paint[] {
  return ORDER.flatMap((status) => {
    let end = -1;
    const boxes = lane.flatMap((part) => {
      if (part.status !== status) return [];
      const left = placeOf(part.from, span) * WIDTH;
      const width = Math.max(placeOf(part.to, span) * WIDTH - left, LEAST);
      const x = Math.round(Math.min(left, WIDTH - width) * 10) / 10;
      if (x + width <= end + 0.5) return [];
      end = x + width;
      return [box(status, x, Math.round(width * 10) / 10)];
    });
    return boxes.length === 0 ? [] : [{ status, path: boxes.join('') }];
  });
}

/** The part of a lane at a moment; null where nothing is known of it. */
export function partAt(lane: readonly Stretch[], time: number): number | null {
  const at = lane.findIndex(({ from, to }) => time >= from && time <= to);
  return at === -1 ? null : at;
}

/** The part of the known time in which it was healthy, as the uptime counts it. */
export function healthyPart(lane: readonly Stretch[]): number | null {
  const sum = (...of: Status[]) =>
    lane.filter(({ status }) => of.includes(status)).reduce((total, { from, to }) => total + to - from, 0);
  const known = sum('healthy', 'degraded', 'down');
  return known === 0 ? null : sum('healthy') / known;
}

/** Where a key leads; null for a key that leads nowhere. Between lanes the time stays the same. */
export function walked(
  lanes: readonly (readonly Stretch[])[],
  from: Place | null,
  key: string,
): Place | null {
  const last = (lane: number) => Math.max((lanes[lane]?.length ?? 0) - 1, 0);
  const within = (lane: number, segment: number): Place => ({ lane, segment: Math.min(Math.max(segment, 0), last(lane)) });
  const beside = (place: Place, step: number): Place => {
    const lane = Math.min(Math.max(place.lane + step, 0), lanes.length - 1);
    const part = lanes[place.lane]?.[place.segment];
    const middle = part === undefined ? 0 : (part.from + part.to) / 2;
    return within(lane, partAt(lanes[lane] ?? [], middle) ?? last(lane));
  };
  if (lanes.length === 0) return null;
  const here = from ?? within(0, last(0));
  switch (key) {
    case 'ArrowLeft':
      return from === null ? here : within(here.lane, here.segment - 1);
    case 'ArrowRight':
      return from === null ? here : within(here.lane, here.segment + 1);
    case 'ArrowUp':
      return from === null ? here : beside(here, -1);
    case 'ArrowDown':
      return from === null ? here : beside(here, 1);
    case 'Home':
      return within(here.lane, 0);
    case 'End':
      return within(here.lane, last(here.lane));
    default:
      return null;
  }
}

/** A part of a lane in words: "stripe: down for 4 min, from 12:03:00 to 12:07:00". */
export function spoken(
  name: string,
  lane: readonly Stretch[],
  segment: number,
  clock: (time: number) => string,
): string {
  const part = lane[segment];
  if (part === undefined) return `${name}: nothing is known of this time`;
  const ms = part.to - part.from;
  const end = segment === lane.length - 1 ? 'until now' : `to ${clock(part.to)}`;
  return `${name}: ${part.status} for ${ms < 1_000 ? 'under 1\u00a0s' : lasting(ms)}, from ${clock(part.from)} ${end}`;
}

/** Neighbours of the same status are one. */
function joined(parts: readonly Stretch[]): Stretch[] {
  const whole: Stretch[] = [];
  for (const part of parts) {
    const before = whole.at(-1);
    if (before?.status === part.status) whole[whole.length - 1] = { ...before, to: part.to };
    else whole.push(part);
  }
  return whole;
}

function box(status: Status, x: number, width: number): string {
  const rectangle = (y: number, height: number) =>
    `M${String(x)} ${String(y)}h${String(width)}v${String(height)}h-${String(width)}Z`;
  if (status !== 'down') {
    const height = SHARES[status] * TALL;
    return rectangle(TALL - height, height);
  }
  const half = (TALL - NOTCH) / 2;
  return rectangle(0, half) + rectangle(half + NOTCH, half);
}
