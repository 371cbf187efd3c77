/** How many tiles stand beside and above each other, and how many of them on which page. */
export interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** How many places a root cause takes: all of them stand on the first page. */
  readonly wide: number;
  readonly high: number;
  /** How many tiles stand on each page. */
  readonly pages: readonly number[];
}

/** How many tiles there are, and how many of them, the first, are root causes. */
export interface Amount {
  readonly count: number;
  readonly roots: number;
}

/** A smaller tile can't be read across a room. */
export const LEAST_TILE = { width: 300, height: 132 };
/** What one tile alone would look like is no use: nothing grows beyond a part of the screen. */
const MOST_TILE = { width: 720, height: 300 };
/** A root cause is this many times as wide and as high as what fails because of it. */
const ROOT_TIMES = 2;
/** How long a page is shown; the first one, with the worst, twice as long. */
export const PAGE_MS = 12_000;

interface Shape {
  readonly columns: number;
  readonly rows: number;
}

/** The grid with the largest tiles that shows all of them, or as many as can be read. */
export function grid(amount: Amount, width: number, height: number): Grid {
  const most = {
    columns: Math.max(Math.floor(width / LEAST_TILE.width), 1),
    rows: Math.max(Math.floor(height / LEAST_TILE.height), 1),
  };
  const least = {
    columns: Math.max(Math.round(width / MOST_TILE.width), 1),
    rows: Math.max(Math.round(height / MOST_TILE.height), 1),
  };
  const times = rootPlaces(most, ROOT_TIMES) >= amount.roots ? ROOT_TIMES : 1;
  const [first, ...others] = range(1, most.columns)
    .map((columns) => ({ columns, rows: rowsFor(amount, columns, most.rows, times) }))
    .filter(({ rows }) => rows <= most.rows);
  if (first === undefined) return paged(amount, most, times);
  const best = others.reduce((best, one) => (size(one, width, height) > size(best, width, height) ? one : best), first);
  const shape = { columns: Math.max(best.columns, least.columns), rows: Math.max(best.rows, least.rows) };
  return paged(amount, shape, times);
}

/** Which page is shown at a time. */
export function pageAt(elapsed: number, pages: number): number {
  if (pages < 2) return 0;
  const turn = Math.floor(elapsed / PAGE_MS) % (pages + 1);
  return Math.max(turn - 1, 0);
}

/** The tiles of a page. */
export function tilesOn<Tile>(tiles: readonly Tile[], { pages }: Pick<Grid, 'pages'>, page: number): Tile[] {
  const from = pages.slice(0, page).reduce((sum, count) => sum + count, 0);
  return tiles.slice(from, from + (pages[page] ?? 0));
}

/** Smaller tiles fill the places that large ones leave between them. */
function paged({ count, roots }: Amount, { columns, rows }: Shape, times: number): Grid {
  const wide = Math.min(times, columns);
  const high = Math.min(times, rows);
  const places = columns * rows;
  const first = Math.min(places - roots * (wide * high - 1), places);
  const more = Math.max(Math.ceil((count - first) / places), 0);
  const pages = [Math.min(count, first), ...range(1, more).map((page) => Math.min(count - first - (page - 1) * places, places))];
  return { columns, rows, wide, high, pages };
}

/** How many root causes there is room for. */
function rootPlaces({ columns, rows }: Shape, times: number): number {
  return Math.floor(columns / Math.min(times, columns)) * Math.floor(rows / Math.min(times, rows));
}

function rowsFor({ count, roots }: Amount, columns: number, mostRows: number, times: number): number {
  const wide = Math.min(times, columns);
  const high = Math.min(times, mostRows);
  const rootRows = Math.ceil(roots / Math.floor(columns / wide)) * high;
  return Math.max(rootRows, Math.ceil((count + roots * (wide * high - 1)) / columns), 1);
}

/** How large a word can be: a tile is about five times as wide as it is high. */
function size({ columns, rows }: Shape, width: number, height: number): number {
  return Math.min(width / columns / 5, height / rows / 2);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
