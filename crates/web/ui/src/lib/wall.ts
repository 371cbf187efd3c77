import type { WallFailing, WallGroup, Wallboard } from './api/board';
import type { Status } from './status';
import { counted, grouped } from './time';

/** How many tiles stand beside and above each other, and on how many pages. */
export interface Grid {
  readonly columns: number;
  readonly rows: number;
  readonly pages: number;
}

/** A thing that services lean on, or a service that fails though no other says so. */
export interface WallTile {
  readonly key: string;
  readonly name: string;
  readonly status: Status;
  readonly since: string;
  /** Who says so. */
  readonly who: string;
  readonly error: string | null;
}

/** A smaller tile can't be read across a room. */
export const LEAST_TILE = { width: 300, height: 132 };
/** What one tile alone would look like is no use: nothing grows beyond a part of the screen. */
const MOST_TILE = { width: 720, height: 300 };
/** How long a page is shown; the first one, with the worst, twice as long. */
export const PAGE_MS = 12_000;

/** The grid with the largest tiles that shows all of them, or as many as can be read. */
export function grid(count: number, width: number, height: number): Grid {
  const most = {
    columns: Math.max(Math.floor(width / LEAST_TILE.width), 1),
    rows: Math.max(Math.floor(height / LEAST_TILE.height), 1),
  };
  const onPage = most.columns * most.rows;
  if (count > onPage) return { ...most, pages: Math.ceil(count / onPage) };
  const columns = range(1, most.columns)
    .map((columns) => ({ columns, rows: Math.max(Math.ceil(count / columns), 1), pages: 1 }))
    .filter(({ rows }) => rows <= most.rows);
  const least = {
    columns: Math.max(Math.round(width / MOST_TILE.width), 1),
    rows: Math.max(Math.round(height / MOST_TILE.height), 1),
  };
  const best = columns.reduce<Grid>((best, one) => (size(one, width, height) > size(best, width, height) ? one : best), {
    ...most,
    pages: 1,
  });
  return { columns: Math.max(best.columns, least.columns), rows: Math.max(best.rows, least.rows), pages: 1 };
}

/** Which page is shown at a time. */
export function pageAt(elapsed: number, pages: number): number {
  if (pages < 2) return 0;
  const turn = Math.floor(elapsed / PAGE_MS) % (pages + 1);
  return Math.max(turn - 1, 0);
}

/** All tiles, the worst first; of equals, what others lean on first. A name has one tile. */
export function tilesOf({ items, failing }: Pick<Wallboard, 'items' | 'failing'>): WallTile[] {
  const groups = new Map(items.map((group) => [keyOf(group.canonical_name), group]));
  const own = failing.map((service) => ofService(service, groups.get(keyOf(service.service_name))));
  const taken = new Set(own.map(({ key }) => key));
  const others = items.map(ofGroup).filter(({ key }) => !taken.has(key));
  const rank = ({ status }: WallTile) => (status === 'down' ? 0 : status === 'degraded' ? 1 : 2);
  return [...others, ...own].sort((one, other) => rank(one) - rank(other));
}

/** Who says what of it: "5 of 7 services find it down", or how many lean on it while it is well. */
export function saidBy({ counts, status }: Pick<WallGroup, 'counts' | 'status'>): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const total = counted(all, all, 'service');
  if (status === 'healthy' || status === 'skipped') return total;
  const failing = status === 'unknown' ? counts.unknown : counts.down + counts.degraded;
  if (failing === all) return all === 1 ? total : `all ${total}`;
  return `${grouped(failing)} of ${total}`;
}

const keyOf = (name: string) => name.trim().toLowerCase();

function ofGroup(group: WallGroup): WallTile {
  const { canonical_name: name, status, since, error_message: error } = group;
  return { key: keyOf(name), name, status, since, who: saidBy(group), error };
}

/** Those who lean on it may not have noticed. */
function ofService(service: WallFailing, group: WallGroup | undefined): WallTile {
  const { service_name: name, status, since, error_message: error } = service;
  const users = group === undefined ? 0 : Object.values(group.counts).reduce((sum, count) => sum + count, 0);
  const who = users === 0 ? 'by its own poll' : `by its own poll, ${counted(users, users, 'service')} on it`;
  return { key: keyOf(name), name, status, since, who, error };
}

/** How large a word can be: a tile is about five times as wide as it is high. */
function size({ columns, rows }: Grid, width: number, height: number): number {
  return Math.min(width / columns / 5, height / rows / 2);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
