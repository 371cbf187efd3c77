import type { WallFailing, WallGroup, Wallboard } from './api/board';
import type { NowCause } from './api/now';
import type { Line } from './board';
import { isolated } from './isolate';
import { compared } from './names';
import { hurtsText, titleOf } from './now';
import type { Status } from './status';
import { counted, grouped } from './time';

/** A thing that services lean on, or a service that fails though no other says so. */
export interface WallTile {
  readonly key: string;
  readonly name: string;
  readonly status: Status;
  /** Null when nobody knows. */
  readonly since: string | null;
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

/** All tiles, root causes first, then the worst; of equals, what others lean on first. A name has one tile, with the worst that is told of it. */
export function tilesOf({ items, failing, lines, causes }: Sources): WallTile[] {
  const users = new Map(items.map((group) => [compared(group.canonical_name), sum(group.counts)]));
  const broken = lines.filter(({ active, status }) => active && (status === 'down' || status === 'degraded'));
  const told = worstByName([
    ...items.map(ofGroup),
    ...failing.map((service) => ofService(service.service_name, service, service.error_message, users)),
    ...broken.map((line) => ofService(line.name, line, null, users)),
    ...causes.flatMap(ofCause),
  ]);
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

/** Who says what of it: "5 of 7 services find it down", or how many lean on it while it is well. */
export function saidBy({ counts, status }: Pick<WallGroup, 'counts' | 'status'>): string {
  const all = sum(counts);
  const total = counted(all, all, 'service');
  if (status === 'healthy' || status === 'skipped') return total;
  const failing = status === 'unknown' ? counts.unknown : counts.down + counts.degraded;
  if (failing === all) return all === 1 ? total : `all ${total}`;
  return `${grouped(failing)} of ${total}`;
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
    for (const { name } of cause.nodes) if (!roots.has(compared(name))) roots.set(compared(name), rootText(cause));
  }
  const affected = new Map<string, string>();
  for (const line of broken) {
    const key = compared(line.name);
    // Of many root causes the last are not listed.
    if (line.cause === 'root' && !roots.has(key)) roots.set(key, 'root cause');
    if (line.cause === 'affected') affected.set(key, becauseText(line, causes));
  }
  return { roots, affected };
}

function rootText(cause: NowCause): string {
  const { node_count } = cause;
  const together = node_count > 1 ? ` with ${grouped(node_count - 1)} more` : '';
  return `root cause${together}, ${hurtsText(cause)}`;
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
  const { canonical_name: name, status, since, error_message: error } = group;
  return { key: compared(name), name, status, since, who: saidBy(group), error };
}

/** Those who lean on it may not have noticed. */
function ofService(
  name: string,
  { status, since }: Pick<WallFailing | Line, 'status' | 'since'>,
  error: string | null,
  users: ReadonlyMap<string, number>,
): Told {
  const key = compared(name);
  const count = users.get(key) ?? 0;
  const who = count === 0 ? 'by its own poll' : `by its own poll, ${counted(count, count, 'service')} on it`;
  return { key, name, status, since, who, error };
}

/** The wall has no room for every name; what fails by itself is told all the same. */
function ofCause({ nodes, since, error_message: error, reporter_count: count }: NowCause): Told[] {
  const who = count === 0 ? 'by its own poll' : counted(count, count, 'service');
  return nodes.map(({ name, status }) => ({ key: compared(name), name, status, since, who, error }));
}

function sum(counts: WallGroup['counts']): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
