import type { Recorded, Said } from './document';

/** A thing that was recorded, with its time worked out. */
export interface Entry {
  readonly time: number;
  readonly what: string;
}

/** What stands in one line of the axis: what the call says, and what was recorded around then. */
export interface Row {
  /** Null for what the call gives no time of day to: it stands where it was said. */
  readonly time: number | null;
  readonly said: readonly Said[];
  readonly recorded: readonly Entry[];
}

/** Both timelines: on one axis where the call tells times of day, else each for itself. */
export type Beside =
  | { readonly kind: 'axis'; readonly rows: readonly Row[] }
  | { readonly kind: 'apart'; readonly said: readonly Said[]; readonly recorded: readonly Entry[] }
  | { readonly kind: 'alone'; readonly said: readonly Said[] };

/** People tell a time by the minute: what was recorded within this time is the same moment. */
export const MATCH_MS = 90_000;

export function beside(said: readonly Said[], recorded: Recorded | null): Beside {
  if (recorded === null) return { kind: 'alone', said };
  const entries = recorded.entries
    .map(({ at, what }) => ({ time: Date.parse(at), what }))
    .sort((one, other) => one.time - other.time);
  if (said.every(({ at }) => timeOf(at) === null)) return { kind: 'apart', said, recorded: entries };
  return { kind: 'axis', rows: rowsOf(groupsOf(said), entries) };
}

/** A time with its day and its zone; null for a timecode and for words. */
export function timeOf(at: string | null): number | null {
  if (at === null || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*([Zz]|[+-]\d\d:?\d\d)$/.test(at)) return null;
  const time = Date.parse(at);
  return Number.isNaN(time) ? null : time;
}

interface Group {
  readonly time: number | null;
  readonly said: Said[];
}

/** What has no time stays with what was said before it, so that the call keeps its order. */
function groupsOf(said: readonly Said[]): Group[] {
  const groups: Group[] = [];
  for (const one of said) {
    const time = timeOf(one.at);
    const last = groups.at(-1);
    if (last !== undefined && (time === null || time === last.time)) last.said.push(one);
    else groups.push({ time, said: [one] });
  }
  const timed = groups.filter(({ time }) => time !== null);
  timed.sort((one, other) => (one.time ?? 0) - (other.time ?? 0));
  return [...groups.filter(({ time }) => time === null), ...timed];
}

function rowsOf(groups: readonly Group[], entries: readonly Entry[]): Row[] {
  const matched = new Map<Group, Entry[]>();
  const alone: Row[] = [];
  for (const entry of entries) {
    const group = nearest(groups, entry.time);
    if (group === null) alone.push({ time: entry.time, said: [], recorded: [entry] });
    else matched.set(group, [...(matched.get(group) ?? []), entry]);
  }
  const told = groups.map((group) => ({ ...group, recorded: matched.get(group) ?? [] }));
  const place = ({ time }: Row) => time ?? Number.NEGATIVE_INFINITY;
  return [...told, ...alone].sort((one, other) => place(one) - place(other));
}

/** The group closest to a time, when it is close enough. */
function nearest(groups: readonly Group[], time: number): Group | null {
  let best: Group | null = null;
  let least = MATCH_MS;
  for (const group of groups) {
    const distance = group.time === null ? Infinity : Math.abs(group.time - time);
    if (distance > least || (distance === least && best !== null)) continue;
    best = group;
    least = distance;
  }
  return best;
}

/** A stretch of rows: some that were only recorded are put together where there are many. */
export type Stretch =
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'many'; readonly rows: readonly Row[] };

/** So many recorded changes in a row are read one by one; more are folded. */
export const FOLD_FROM = 5;

export function folded(rows: readonly Row[]): Stretch[] {
  const stretches: Stretch[] = [];
  let run: Row[] = [];
  const flush = () => {
    if (run.length >= FOLD_FROM) stretches.push({ kind: 'many', rows: run });
    else stretches.push(...run.map((row) => ({ kind: 'row' as const, row })));
    run = [];
  };
  for (const row of rows) {
    if (row.said.length === 0) {
      run.push(row);
      continue;
    }
    flush();
    stretches.push({ kind: 'row', row });
  }
  flush();
  return stretches;
}
