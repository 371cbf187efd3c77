import type { Strips } from './api/board';
import type { ServiceStatus } from './api/services';
import type { Status } from './status';
import { latency } from './time';

/** How a service was, cell by cell; null while it was not there yet. */
export interface StripCells {
  /** When the first cell begins. */
  readonly from: number;
  readonly cellMs: number;
  readonly cells: readonly (ServiceStatus | null)[];
  /** The p95 of each hour, oldest first. */
  readonly p95: readonly (number | null)[];
}

/** Of the height of a strip or a lane, so that it can be read without colour. */
export const SHARES: Readonly<Record<Status, number>> = {
  healthy: 1,
  degraded: 0.6,
  down: 1,
  unknown: 0.3,
  skipped: 0.15,
};

export interface Box {
  readonly status: Status;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** What is cut out of it: where the cut begins, and how high it is. */
  readonly notch: { readonly y: number; readonly height: number } | null;
}

/** The strips of an answer, by service. */
export function stripsOf({ from, cell_ms, items }: Strips): [string, StripCells][] {
  const start = Date.parse(from);
  return items.map(({ id, cells, p95_ms }) => [
    id,
    { from: start, cellMs: cell_ms, cells, p95: p95_ms },
  ]);
}

/** What was kept with what is new: not more than `limit`, without those that came first, unless wanted. */
export function latest<Value>(
  kept: ReadonlyMap<string, Value>,
  fresh: readonly (readonly [string, Value])[],
  limit: number,
  wanted: ReadonlySet<string>,
): Map<string, Value> {
  const all = new Map(kept);
  for (const [id, value] of fresh) {
    // What is set again stands last again.
    all.delete(id);
    all.set(id, value);
  }
  for (const id of all.keys()) {
    if (all.size <= limit) break;
    if (!wanted.has(id)) all.delete(id);
  }
  return all;
}

/** Where the cells of a strip lie on so many pixels; cells that were not there are left out. */
export function boxes(cells: readonly (Status | null)[], width: number, height: number): Box[] {
  const step = width / Math.max(cells.length, 1);
  const gap = step >= 3 ? 1 : 0;
  return cells.flatMap((status, at) => {
    if (status === null) return [];
    const x = Math.round(at * step);
    const tall = Math.max(Math.round(SHARES[status] * height), 2);
    const cut = Math.max(Math.round(height / 6), 2);
    return {
      status,
      x,
      y: height - tall,
      width: Math.max(Math.round((at + 1) * step) - x - gap, 1),
      height: tall,
      notch: status === 'down' ? { y: Math.round((height - cut) / 2), height: cut } : null,
    };
  });
}

/** Which cell lies at a place of the strip, from 0 to 1. */
export function cellAt(share: number, count: number): number {
  return Math.min(Math.max(Math.floor(share * count), 0), Math.max(count - 1, 0));
}

/** The cell that a key leads to; null is the whole again, undefined is a key that leads nowhere. */
export function cellAfter(key: string, at: number | null, count: number): number | null | undefined {
  const last = Math.max(count - 1, 0);
  const from = at ?? last + 1;
  if (key === 'ArrowLeft') return Math.max(from - 1, 0);
  if (key === 'ArrowRight') return Math.min(from + 1, last);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return key === 'Escape' && at !== null ? null : undefined;
}

/** "10:24 to 10:48: degraded". */
export function cellText({ from, cellMs, cells }: StripCells, at: number, zone?: string): string {
  const time = new Intl.DateTimeFormat('en-GB', {
    timeStyle: 'short',
    ...(zone === undefined ? {} : { timeZone: zone }),
  });
  const begins = from + at * cellMs;
  const ends = at === cells.length - 1 ? 'now' : time.format(begins + cellMs);
  return `${time.format(begins)} to ${ends}: ${cells[at] ?? 'not watched yet'}`;
}

const WORST_FIRST: readonly ServiceStatus[] = ['down', 'degraded', 'unknown', 'healthy'];

/** The whole of it in a few words: "last 24 h: down in 2, degraded in 1, healthy in 57 of 60 parts". */
export function stripText({ cells }: { readonly cells: readonly (Status | null)[] }): string {
  const count = (status: ServiceStatus) => cells.filter((cell) => cell === status).length;
  const told = WORST_FIRST.map((status) => ({ status, in: count(status) })).filter((part) => part.in > 0);
  const [only, second] = told;
  if (only === undefined) return 'last 24 h: not watched yet';
  if (second === undefined) return `last 24 h: ${only.status} all the time`;
  const parts = told.map((part) => `${part.status} in ${String(part.in)}`);
  const watched = cells.filter((cell) => cell !== null).length;
  return `last 24 h: ${parts.join(', ')} of ${String(watched)} parts`;
}

const HEADROOM = 1.25;

/** A line through the hours: runs of points, broken where there is nothing. */
export function sparkline(
  values: readonly (number | null)[],
  width: number,
  height: number,
): { x: number; y: number }[][] {
  // A line that never changes lies in the upper half, not on the edge.
  const most = Math.max(...values.map((value) => value ?? 0), 1) * HEADROOM;
  const step = width / Math.max(values.length - 1, 1);
  const runs: { x: number; y: number }[][] = [[]];
  for (const [at, value] of values.entries()) {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push({ x: at * step, y: height - (value / most) * height });
  }
  return runs.filter((run) => run.length > 0);
}

/** "p95 over the last 24 h: 12 ms to 80 ms". */
export function sparkText(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'no latency was reported in the last 24 h';
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return `p95 over the last 24 h: ${latency(least)} to ${latency(most)}`;
}
