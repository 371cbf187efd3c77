import type { Change } from './api/activity';
import { changedAt } from './activity';
import { because, type Turned } from './because';
import { isUnhealthy } from './graph/causes';
import { isolated } from './isolate';
import { compared } from './names';
import { nodeAt, thingOf, type Route } from './route';
import { grouped } from './time';

/** What changed at one moment because of one thing. */
export interface Turn {
  readonly key: string;
  /** When it began. */
  readonly at: string;
  /** The thing itself, by its canonical name. */
  readonly name: string;
  readonly previous: string | null;
  readonly current: string | null;
  readonly leads: Route;
  /** Who changed because of it, services first. */
  readonly followers: readonly string[];
  /** What it changed because of, if that is not told as another turn. */
  readonly because: string | null;
}

/** What follows so soon is of the same moment. */
const GAP_MS = 60_000;
const MOST_NAMED = 3;

/** Names the root cause of a service that fails now because of it. */
export type CauseOf = (service: string) => string | null;

/** What Mainstay itself did not know, or knows again, has no cause among the others. */
type Way = 'worse' | 'better' | 'unknown' | 'known';

interface Moment {
  readonly way: Way;
  last: number;
  readonly changes: Change[];
}

/**
 * Changes told by their causes, newest first: what many report is one thing, whoever leans on what
 * changed has changed because of it, and those that did so within a short time are one line.
 */
export function turnsOf(changes: readonly Change[], causeOf: CauseOf = () => null): Turn[] {
  const known: Known = { leans: leaningOf(changes), names: namesOf(changes), causeOf };
  return momentsOf(changes)
    .flatMap((moment) => turnsOfMoment(moment, known))
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** "because of it: Orders, Catalog and 3 more". */
export function followersText({ followers, current }: Pick<Turn, 'followers' | 'current'>): string {
  if (followers.length === 0) return '';
  const named = followers.slice(0, MOST_NAMED).map(isolated);
  const more = followers.length - named.length;
  const all = more > 0 ? `${named.join(', ')} and ${grouped(more)} more` : named.join(', ');
  return `${isUnhealthy(current ?? '') ? 'because of it' : 'with it'}: ${all}`;
}

/** What failed by itself among changes, the one that most followed first. */
export function rootNames(changes: readonly Told[]): string[] {
  const names = new Map<string, string>();
  for (const change of changes) {
    if (isUnhealthy(change.current ?? '') && !names.has(keyOf(change))) names.set(keyOf(change), nameOf(change));
  }
  const leans = leaningOf(changes);
  const turned = because([...names.keys()], (key) => leans.get(key) ?? []);
  return turned.flatMap(({ roots }) => roots.map((key) => names.get(key) ?? key));
}

/** As much of a change as tells what it is about. */
export type Told = Pick<Change, 'service_name' | 'dependency_name' | 'canonical_name' | 'current'>;

/** What a change is about, as it is compared: a service, or what a service leans on. */
function keyOf({ service_name, dependency_name, canonical_name }: Told): string {
  return compared(dependency_name === null ? service_name : (canonical_name ?? dependency_name));
}

function nameOf({ service_name, dependency_name, canonical_name }: Told): string {
  return canonical_name ?? dependency_name ?? service_name;
}

function wayOf({ previous, current }: Change): Way {
  if (isUnhealthy(current ?? '')) return 'worse';
  if (current === 'unknown') return 'unknown';
  return previous === 'unknown' ? 'known' : 'better';
}

/** Who leans on what, as far as any change tells. */
function leaningOf(changes: readonly Told[]): Map<string, Set<string>> {
  const leans = new Map<string, Set<string>>();
  for (const change of changes) {
    if (change.dependency_name === null) continue;
    const key = compared(change.service_name);
    leans.set(key, (leans.get(key) ?? new Set()).add(keyOf(change)));
  }
  return leans;
}

function momentsOf(changes: readonly Change[]): Moment[] {
  const inOrder = [...changes].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const open: Partial<Record<Way, Moment>> = {};
  const all: Moment[] = [];
  for (const change of inOrder) {
    const [at, way] = [Date.parse(change.at), wayOf(change)];
    const known = open[way];
    if (known !== undefined && at - known.last <= GAP_MS) {
      known.changes.push(change);
      known.last = at;
    } else {
      open[way] = { way, last: at, changes: [change] };
      all.push(open[way]);
    }
  }
  return all;
}

/** What all changes together tell. */
interface Known {
  readonly leans: ReadonlyMap<string, ReadonlySet<string>>;
  readonly names: ReadonlyMap<string, string>;
  readonly causeOf: CauseOf;
}

/** A service is called as it calls itself, whatever those say who lean on it. */
function namesOf(changes: readonly Change[]): Map<string, string> {
  return new Map([
    ...changes.map((change) => [keyOf(change), nameOf(change)] as const),
    ...changes.map(({ service_name }) => [compared(service_name), service_name] as const),
  ]);
}

function turnsOfMoment({ way, changes }: Moment, { leans, names, causeOf }: Known): Turn[] {
  const byKey = new Map<string, Change[]>();
  for (const change of changes) {
    const key = keyOf(change);
    byKey.set(key, [...(byKey.get(key) ?? []), change]);
  }
  const keys = [...byKey.keys()];
  const causes = new Map(keys.map((key) => [key, way === 'worse' ? causeAmong(byKey.get(key), causeOf) : null]));
  const leansOn = (key: string) => [...(leans.get(key) ?? []), ...(keyed(causes.get(key)))];
  const turned = isOfNobody(way) ? together(keys) : because(keys, leansOn);
  return turned.flatMap(({ roots, followers }) => {
    const own = roots.flatMap((key) => byKey.get(key) ?? []);
    const [first] = own;
    // What the thing itself became counts more than what the first who reports it said.
    const itself = own.filter(({ dependency_name }) => dependency_name === null).at(-1) ?? own.at(-1);
    if (first === undefined || itself === undefined) return [];
    const cause = causes.get(roots[0] ?? '') ?? null;
    return [{
      key: first.id,
      at: first.at,
      name: roots.map((key) => names.get(key) ?? key).join(', '),
      previous: first.previous,
      current: worstOf(own) ?? itself.current,
      leads: itself.dependency_name === null ? changedAt(itself) : nodeAt(thingOf(nameOf(itself))),
      followers: followers.map((key) => names.get(key) ?? key),
      because: cause !== null && !roots.includes(compared(cause)) ? cause : null,
    }];
  });
}

function isOfNobody(way: Way): boolean {
  return way === 'unknown' || way === 'known';
}

function together([first, ...others]: readonly string[]): Turned[] {
  return first === undefined ? [] : [{ roots: [first], followers: others }];
}

function keyed(name: string | null | undefined): string[] {
  return name === null || name === undefined ? [] : [compared(name)];
}

function causeAmong(changes: readonly Change[] | undefined, causeOf: CauseOf): string | null {
  for (const { dependency_name, service_id } of changes ?? []) {
    const cause = dependency_name === null ? causeOf(service_id) : null;
    if (cause !== null) return cause;
  }
  return null;
}

function worstOf(changes: readonly Change[]): string | null {
  return ['down', 'degraded'].find((status) => changes.some(({ current }) => current === status)) ?? null;
}
