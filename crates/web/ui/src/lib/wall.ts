import type { WallFailing, WallGroup, Wallboard } from './api/board';
import type { NowCause } from './api/now';
import type { Line } from './board';
import { isolated } from './isolate';
import { leanText } from './leaning';
import { compared } from './names';
import { hurtsText, titleOf } from './now';
import type { Status } from './status';
import { counted, grouped } from './time';

/** A service, or a thing that services lean on. */
export interface WallTile {
  readonly key: string;
  readonly name: string;
  readonly status: Status;
  /** Null when nobody knows. */
  readonly since: string | null;
  /** Since when it is degraded or down without a break; null while it is neither. */
  readonly failingSince: string | null;
  /** Who says so. */
  readonly who: string;
  readonly error: string | null;
  /** Whether it fails by itself. */
  readonly root: boolean;
  /** Whom it hurts, or because of what it fails. */
  readonly why: string | null;
}

/** All that tells how things are: each is read by itself, and may be a moment older than the others. */
export interface Sources extends Pick<Wallboard, 'items' | 'failing'> {
  readonly lines: readonly Line[];
  /** What fails by itself, the one that hurts most first. */
  readonly causes: readonly NowCause[];
}

/** More causes of one tile can't be read across a room. */
const MOST_NAMED = 2;

/**
 * All tiles, root causes first, then the worst; of equals, what others lean on first. A name has one tile, with the
 * worst that is told of it, and every service that is asked has one, unless it fails in a circle: that has one.
 */
export function tilesOf({ items, failing, lines, causes }: Sources): WallTile[] {
  const users = new Map(items.map((group) => [compared(group.canonical_name), sum(group.counts)]));
  const asked = lines.filter(({ active }) => active);
  const broken = asked.filter(({ status }) => status === 'down' || status === 'degraded');
  const circles = causes.filter(isCircle);
  const inCircle = new Set(circles.flatMap(({ nodes }) => nodes.map(({ name }) => compared(name))));
  const alone = worstByName([
    ...items.map(ofGroup),
    ...failing.map((one) => ofService(one.service_name, { ...one, failingSince: one.failing_since }, one.error_message, users)),
    ...asked.map((line) => ofService(line.name, line, null, users)),
    ...causes.flatMap((cause) => cause.nodes.map((node) => ofCause(cause, node.name, node.status))),
  ]).filter(({ key }) => !inCircle.has(key));
  // What is one root cause everywhere else is one here too.
  const told = [...alone, ...circles.map((cause) => ofCause(cause, titleOf(cause), cause.status))];
  const why = reasons(broken, causes);
  const places = new Map([...why.roots.keys()].map((key, place) => [key, place]));
  const placeOf = ({ key }: Told) => places.get(key) ?? places.size;
  return told
    .sort((one, other) => placeOf(one) - placeOf(other) || rankOf(one) - rankOf(other))
    .map((tile) => {
      const root = why.roots.get(tile.key);
      return { ...tile, root: root !== undefined, why: root ?? why.affected.get(tile.key) ?? null };
    });
}

/** Who says so: "5 of 7 services say so", or how many lean on it while it is well. */
export function saidBy({ counts, status }: Pick<WallGroup, 'counts' | 'status'>): string {
  const all = sum(counts);
  const total = counted(all, all, 'service');
  if (status === 'healthy' || status === 'skipped') return leanText(all);
  const failing = status === 'unknown' ? counts.unknown : counts.down + counts.degraded;
  const every = all === 2 ? 'both services' : `all ${total}`;
  if (failing === all) return all === 1 ? `${total} says so` : `${every} say so`;
  return `${grouped(failing)} of ${total} say so`;
}

function polledText(count: number): string {
  return count === 0 ? 'by its own poll' : `by its own poll, ${grouped(count)} ${count === 1 ? 'leans' : 'lean'} on it directly`;
}

type Told = Omit<WallTile, 'root' | 'why'>;

function rankOf({ status }: Pick<WallTile, 'status'>): number {
  return status === 'down' ? 0 : status === 'degraded' ? 1 : 2;
}

/** One of each name: the worst, and of equals the first, which tells more. */
function worstByName(all: readonly Told[]): Told[] {
  const worst = new Map<string, Told>();
  for (const one of all) {
    const known = worst.get(one.key);
    if (known === undefined || rankOf(one) < rankOf(known)) worst.set(one.key, one);
  }
  return [...worst.values()];
}

/** What is told of those that fail by themselves, the one that hurts most first, and of those that fail because of them. */
function reasons(broken: readonly Line[], causes: readonly NowCause[]) {
  const roots = new Map<string, string>();
  for (const cause of causes) {
    const key = compared(titleOf(cause));
    if (!roots.has(key)) roots.set(key, rootText(cause));
  }
  const isCut = causes.some(({ nodes, node_count }) => nodes.length < node_count);
  const affected = new Map<string, string>();
  for (const line of broken) {
    const key = compared(line.name);
    // Of many root causes the last are not listed, nor are the last of a large circle.
    if (line.cause === 'root' && isCut) affected.set(key, 'part of a root cause');
    else if (line.cause === 'root' && !roots.has(key)) roots.set(key, 'root cause');
    if (line.cause === 'affected') affected.set(key, becauseText(line, causes));
  }
  return { roots, affected };
}

function rootText(cause: NowCause): string {
  const circle = isCircle(cause) ? `, a circle of ${grouped(cause.node_count)}` : '';
  return `root cause${circle}, ${hurtsText(cause)}`;
}

function isCircle({ node_count }: NowCause): boolean {
  return node_count > 1;
}

/** A root cause names only the nearest of those who are hurt; where there is but one, it is that one. */
function becauseText({ id }: Line, causes: readonly NowCause[]): string {
  const named = causes.filter(({ hurt }) => hurt.some((one) => one.id === id));
  const known = named.length === 0 && causes.length === 1 ? causes : named;
  if (known.length === 0) return 'because of another';
  const names = known.slice(0, MOST_NAMED).map((cause) => isolated(titleOf(cause)));
  const more = known.length - names.length;
  return `because of ${names.join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
}

function ofGroup(group: WallGroup): Told {
  const { canonical_name: name, status, since, failing_since: failingSince, error_message: error } = group;
  return { key: compared(name), name, status, since, failingSince, who: saidBy(group), error };
}

/** Those who lean on it may not have noticed. */
function ofService(
  name: string,
  { status, since, failingSince }: Pick<WallFailing | Line, 'status' | 'since'> & Pick<Line, 'failingSince'>,
  error: string | null,
  users: ReadonlyMap<string, number>,
): Told {
  const key = compared(name);
  const count = users.get(key) ?? 0;
  const who = status === 'down' || status === 'degraded' ? polledText(count) : leanText(count);
  return { key, name, status, since, failingSince, who, error };
}

/** The wall has no room for every name; what fails by itself is told all the same. */
function ofCause(cause: NowCause, name: string, status: Status): Told {
  const { since: failingSince, status_since: since, error_message: error, reporter_count: count } = cause;
  const who = count === 0 ? 'by its own poll' : `${counted(count, count, 'service')} ${count === 1 ? 'says' : 'say'} so`;
  return { key: compared(name), name, status, since, failingSince, who, error };
}

function sum(counts: WallGroup['counts']): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
