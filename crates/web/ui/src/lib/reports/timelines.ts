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

/** A day without a time of it, in words; null for anything else. */
export function dayOf(at: string): string | null {
  const time = /^\d{4}-\d\d-\d\d$/.test(at) ? Date.parse(at) : NaN;
  if (Number.isNaN(time)) return null;
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(time);
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
  const alone: (Row & { recorded: Entry[] })[] = [];
  for (const entry of entries) {
    const group = nearest(groups, entry.time);
    const last = alone.at(-1);
    if (group !== null) matched.set(group, [...(matched.get(group) ?? []), entry]);
    else if (last !== undefined && isSameMoment(last.recorded, entry)) last.recorded.push(entry);
    else alone.push({ time: entry.time, said: [], recorded: [entry] });
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

/** What was recorded at one moment: in a few lines, and all of it. */
export interface Moment {
  readonly time: number;
  readonly brief: readonly string[];
  readonly all: readonly string[];
}

/** One poll brings many changes: so many of a moment are read at once. */
export const MOMENT_SHOWN = 3;
/** Of services that changed alike so many are named. */
const NAMED = 3;
/** What is recorded this close together was seen together. */
const MOMENT_MS = 1_000;

export function momentsOf(entries: readonly Entry[]): Moment[] {
  const groups: Entry[][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (last !== undefined && isSameMoment(last, entry)) last.push(entry);
    else groups.push([entry]);
  }
  return groups.map((group) => {
    const all = group.map(({ what }) => what).sort((one, other) => weight(one) - weight(other));
    return { time: group[0]?.time ?? 0, brief: briefOf(all), all };
  });
}

/** Services that changed alike in one line, and no symptoms where there is more to say. */
function briefOf(all: readonly string[]): string[] {
  // One more line takes no more room than the words that hide it.
  if (all.length <= MOMENT_SHOWN + 1) return [...all];
  const telling = all.filter((what) => weight(what) < SYMPTOM);
  if (telling.length === 0) return symptomsOf(all);
  const alike = new Map<string, string[]>();
  for (const what of telling) {
    const [, name = '', status = ''] = ALIKE.exec(what) ?? [];
    const key = status === '' ? what : status;
    alike.set(key, [...(alike.get(key) ?? []), name]);
  }
  return [...alike].map(([key, names]) => {
    if (names[0] === '') return key;
    if (names.length === 1) return `service ${names[0] ?? ''} ${key}`;
    return `${nameList(names)} ${key.replace(': its ', ': their ')}`;
  });
}

/** Which service, and how it changed: many change alike, or can't be polled at once. */
const ALIKE = /^service (.+) (became \w+|could (?:not )?be polled\b.*)$/;

/** What is said of one thing by many in one line: the most first. */
function symptomsOf(all: readonly string[]): string[] {
  const alike = new Map<string, { readonly lines: string[]; readonly names: string[] }>();
  for (const what of all) {
    const [, name = '', thing = '', status = ''] = SYMPTOM_LINE.exec(what) ?? [];
    const key = thing === '' ? what : `${thing} is ${status}`;
    const group = alike.get(key) ?? { lines: [], names: [] };
    alike.set(key, { lines: [...group.lines, what], names: [...group.names, name] });
  }
  return [...alike]
    .sort(([, one], [, other]) => other.lines.length - one.lines.length)
    .slice(0, MOMENT_SHOWN)
    .map(([key, { lines, names }]) => (lines.length === 1 ? (lines[0] ?? '') : `${key}, say ${nameList(names)}`));
}

/** Which service says it, what the thing goes by, and how it is; what the service itself calls it is left out. */
const SYMPTOM_LINE = /^service (.+) says that its dependency (.+?)(?: \([^()]+\))? is (\w+)$/;

/** "A, B, C and 4 more services". */
function nameList(names: readonly string[]): string {
  const shown = names.length <= NAMED + 1 ? names.length : NAMED;
  const left = names.length - shown;
  if (left > 0) return `${names.slice(0, shown).join(', ')} and ${String(left)} more services`;
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

function isSameMoment(group: readonly Entry[], { time }: Entry): boolean {
  return time - (group[0]?.time ?? -Infinity) < MOMENT_MS;
}

const SYMPTOM = 2;

/** Causes say more than services, and those more than what services say of others. */
function weight(what: string): number {
  if (/^root cause/i.test(what)) return 0;
  return /\bdependency\b/i.test(what) ? SYMPTOM : 1;
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
