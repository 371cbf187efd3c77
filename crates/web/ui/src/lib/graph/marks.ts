import { because } from '../because';
import { compared } from '../names';
import { grouped } from '../time';
import { isUnhealthy } from './causes';
import type { Moment } from './replay';
import type { Window } from './time';

/** A time at which something went down. */
export interface Mark {
  readonly at: number;
  /** What went down by itself, the first few of it. */
  readonly names: readonly string[];
  readonly count: number;
  /** How many others failed because of it. */
  readonly followers: number;
}

interface Fell {
  readonly at: number;
  readonly kind: string;
  readonly service_id: string;
  readonly dependency_id: string | null;
  readonly dependency_name: string | null;
  readonly after: string | null;
}

interface Draft {
  readonly first: number;
  /** When the last of it went down; none did while it is null. */
  down: number | null;
  /** The names by their keys, and which of them went down. */
  readonly names: Map<string, string>;
  readonly isDown: Set<string>;
}

/** What falls within such a part of the window is one incident. */
const PARTS = 90;
const MOST_NAMED = 3;

/**
 * When services and what they lean on went down, named by what failed by itself: what many report
 * within a short time is one mark, and whoever leans on what fell has fallen because of it.
 */
export function marksOf(
  changes: readonly Fell[],
  window: Window,
  nameOf: (service: string) => string | undefined,
  known: Moment,
): Mark[] {
  const gap = (window.to - window.from) / PARTS;
  const fallen = changes
    .filter(({ at, after }) => isUnhealthy(after ?? '') && at >= window.from && at <= window.to)
    .filter(({ kind }) => kind === 'service' || kind === 'dependency')
    .sort((one, other) => one.at - other.at);
  const names = new Names(nameOf, known);
  const drafts: Draft[] = [];
  for (const change of fallen) {
    const last = drafts.at(-1);
    const draft = last !== undefined && change.at - last.first <= gap
      ? last
      : { first: change.at, down: null, names: new Map<string, string>(), isDown: new Set<string>() };
    if (draft !== last) drafts.push(draft);
    const name = names.of(change);
    const key = compared(name);
    if (!draft.names.has(key)) draft.names.set(key, name);
    if (change.after !== 'down') continue;
    draft.isDown.add(key);
    // All of it can be seen only when the last of it has happened.
    draft.down = change.at;
  }
  return drafts.flatMap((draft) => (draft.down === null ? [] : [markOf(draft, draft.down, names)]));
}

export function markText({ names, count, followers }: Mark): string {
  const more = count > names.length ? ` and ${grouped(count - names.length)} more` : '';
  const also = followers === 0 ? '' : `, ${grouped(followers)} more because of ${count === 1 ? 'it' : 'them'}`;
  return `${names.join(', ')}${more} went down${also}`;
}

/** The incident that a moment stands at: one that has happened, and less than a step ago. */
export function markAt(marks: readonly Mark[], moment: number, step: number): Mark | null {
  return marks.findLast(({ at }) => at <= moment && moment - at < step) ?? null;
}

/** The next incident before or after a moment; null when there is none. */
export function nextMark(marks: readonly Mark[], moment: number, way: 1 | -1): Mark | null {
  if (way === 1) return marks.find(({ at }) => at > moment) ?? null;
  return marks.findLast(({ at }) => at < moment) ?? null;
}

/** What only slowed is named where something went down because of it. */
function markOf({ names, isDown }: Draft, at: number, known: Names): Mark {
  const turned = because([...names.keys()], (key) => known.leansOn(key)).filter(({ roots, followers }) =>
    [...roots, ...followers].some((key) => isDown.has(key)),
  );
  const roots = turned.flatMap((one) => one.roots);
  return {
    at,
    names: roots.slice(0, MOST_NAMED).map((key) => names.get(key) ?? key),
    count: roots.length,
    followers: turned.reduce((sum, { followers }) => sum + followers.length, 0),
  };
}

/** What changes are about, and who leans on what, by names that are compared. */
class Names {
  readonly #nameOf: (service: string) => string | undefined;
  readonly #known: Moment;
  #leans: Map<string, Set<string>> | null = null;

  constructor(nameOf: (service: string) => string | undefined, known: Moment) {
    this.#nameOf = nameOf;
    this.#known = known;
  }

  of({ service_id, dependency_id, dependency_name }: Fell): string {
    if (dependency_id === null) return this.#service(service_id) ?? 'A service that is gone';
    const dependency = this.#known.dependencies.get(dependency_id);
    const linked = dependency?.linked ?? null;
    return (linked === null ? undefined : this.#service(linked)) ?? dependency?.name ?? dependency_name ?? '';
  }

  leansOn(key: string): ReadonlySet<string> {
    this.#leans ??= this.#read();
    return this.#leans.get(key) ?? new Set();
  }

  #service(id: string): string | undefined {
    return this.#known.services.get(id)?.name ?? this.#nameOf(id);
  }

  #read(): Map<string, Set<string>> {
    const leans = new Map<string, Set<string>>();
    for (const { service, linked, key } of this.#known.dependencies.values()) {
      const [from, to] = [this.#service(service), linked === null ? undefined : this.#service(linked)];
      if (from === undefined) continue;
      const known = leans.get(compared(from)) ?? new Set<string>();
      leans.set(compared(from), known.add(to === undefined ? key : compared(to)));
    }
    return leans;
  }
}
