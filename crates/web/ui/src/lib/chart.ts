import type { LatencyBucket, Range, Timeline } from './api/dependencies';
import type { Status } from './status';

const HOUR_MS = 3_600_000;
export const RANGE_MS: Record<Range, number> = {
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

/** How many steps of its own the server has in each range. */
const STEPS: Record<Range, number> = { '1h': 60, '6h': 120, '24h': 144, '7d': 168, '30d': 120 };

/** The size that a chart is drawn in; the page stretches it. */
export const WIDTH = 1_000;
export const HEIGHT = 100;

/** One step of the chart, where it is drawn. */
export interface Spot {
  readonly x: number;
  readonly bucket: LatencyBucket;
}

export interface Chart {
  /** What the top of the chart stands for. */
  readonly top: number;
  readonly spots: readonly Spot[];
  /** From the least to the most. */
  readonly band: string;
  readonly average: string;
  readonly p95: string;
}

/** The drawing of some latencies; null when there is none. */
export function chart(buckets: readonly LatencyBucket[], range: Range, now: number): Chart | null {
  if (buckets.length === 0) return null;
  const top = roundUp(Math.max(...buckets.map(({ max_ms }) => max_ms)));
  const from = now - RANGE_MS[range];
  const spots = buckets.map((bucket) => {
    const x = ((Date.parse(bucket.start) - from) / RANGE_MS[range]) * WIDTH;
    return { x: Math.min(Math.max(x, 0), WIDTH), bucket };
  });
  const parts = unbroken(spots, WIDTH / STEPS[range]);
  const y = (ms: number) => round(HEIGHT - (Math.min(ms, top) / top) * HEIGHT);
  const line = (value: (bucket: LatencyBucket) => number) =>
    parts.map((part) => path(part.map(({ x, bucket }) => [x, y(value(bucket))]))).join('');
  const band = parts.map((part) => {
    const upper = part.map(({ x, bucket }): Dot => [x, y(bucket.max_ms)]);
    const lower = part.map(({ x, bucket }): Dot => [x, y(bucket.min_ms)]).reverse();
    return `${path([...upper, ...lower])}Z`;
  });
  return {
    top,
    spots,
    band: band.join(''),
    average: line(({ avg_ms }) => avg_ms),
    p95: line(({ p95_ms }) => p95_ms),
  };
}

/** How long one step of the server's lasts. */
export const stepMs = (range: Range) => RANGE_MS[range] / STEPS[range];

/** The spot that lies nearest to a place on the chart. */
export function nearest(spots: readonly Spot[], x: number): number {
  let found = 0;
  spots.forEach((spot, at) => {
    if (Math.abs(spot.x - x) < Math.abs((spots[found]?.x ?? Infinity) - x)) found = at;
  });
  return found;
}

/** The whole of some steps, for those who want one number. */
export function summary(buckets: readonly LatencyBucket[]): {
  readonly min: number;
  readonly avg: number;
  readonly max: number;
  /** The highest of the steps: those of the whole can't be known from them. */
  readonly p95: number;
} {
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const total = buckets.reduce((sum, bucket) => sum + bucket.avg_ms * bucket.count, 0);
  return {
    min: Math.min(...buckets.map(({ min_ms }) => min_ms)),
    avg: count === 0 ? 0 : total / count,
    max: Math.max(...buckets.map(({ max_ms }) => max_ms)),
    p95: Math.max(...buckets.map(({ p95_ms }) => p95_ms)),
  };
}

/** A stretch in which a status did not change. */
export interface Stretch {
  readonly status: Status;
  readonly from: number;
  readonly to: number;
}

export function stretches({ from, to, initial, transitions }: Timeline): Stretch[] {
  const end = Date.parse(to);
  const starts = [
    { status: initial, at: Date.parse(from) },
    ...transitions.map(({ status, at }) => ({ status, at: Date.parse(at) })),
  ];
  return starts
    .map(({ status, at }, index) => ({ status, from: at, to: starts[index + 1]?.at ?? end }))
    .filter((stretch) => stretch.to > stretch.from);
}

type Dot = readonly [x: number, y: number];

const round = (value: number) => Math.round(value * 10) / 10;

function path(dots: readonly Dot[]): string {
  return dots
    .map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${String(round(x))} ${String(y)}`)
    .join('');
}

/** Steps without a latency are left out by the server: there the line is broken. */
function unbroken(spots: readonly Spot[], width: number): Spot[][] {
  const gaps = spots.slice(1).map((spot, at) => spot.x - (spots[at]?.x ?? 0));
  const step = Math.min(...gaps.filter((gap) => gap > 0), Infinity);
  const parts: Spot[][] = [];
  spots.forEach((spot, at) => {
    const part = parts.at(-1);
    if (part === undefined || (gaps[at - 1] ?? 0) > step * 1.5) parts.push([spot]);
    else part.push(spot);
  });
  return parts.map((part) => (part.length === 1 ? widened(part, width) : part));
}

/** A step that stands alone is as wide as it is long, so that it can be seen. */
function widened(part: Spot[], width: number): Spot[] {
  return part.flatMap(({ x, bucket }) => {
    const left = Math.min(x, WIDTH - width);
    return [{ x: left, bucket }, { x: left + width, bucket }];
  });
}

/** The next of 1, 2, 5 and their multiples of ten. */
function roundUp(ms: number): number {
  if (!(ms > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(ms));
  return ([1, 2, 5].find((digit) => digit * size >= ms) ?? 10) * size;
}
