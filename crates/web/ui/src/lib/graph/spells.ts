import type { Status } from '../status';
import { isUnhealthy } from './causes';
import { apply, draftOf, type Change, type Draft, type Moment, type PastDependency } from './replay';
import { worse } from './then';

/** A stretch in which a node of the graph was not well. */
export interface Spell {
  readonly node: string;
  readonly from: number;
  /** Null while it lasts. */
  readonly to: number | null;
  /** It ended because nobody knew any more, not because the node was well. */
  readonly isLost: boolean;
  readonly worst: 'degraded' | 'down';
}

/** When nodes were not well, and who leans on whom. */
export interface Spells {
  /** Those of one node in the order of time. */
  readonly spells: readonly Spell[];
  readonly leansOn: (node: string) => ReadonlySet<string>;
  readonly nameOf: (node: string) => string;
  readonly isService: (node: string) => boolean;
}

/** Who is well for less than this, and then ill again, was not well at all. */
export const CALM_MS = 60_000;

/** The spells of a span, by the rules of the graph: each change once, at the price of what it touches. */
export function spellsOf(span: { readonly start: Moment; readonly changes: readonly Change[] }): Spells {
  const watch = new Watch(span.start);
  const held = new Map<string, number>();
  const inTime = span.changes.map((change, index) => ({ change, index })).sort(
    (one, other) => one.change.at - other.change.at || one.index - other.index,
  );
  for (const { change, index } of inTime) {
    // Numbers decide: what came late does not undo what was known before it.
    const facet = facetOf(change);
    if ((held.get(facet) ?? -1) > index) continue;
    held.set(facet, index);
    watch.hear(change);
  }
  return watch.told();
}

function facetOf({ kind, service_id, dependency_id }: Change): string {
  if (dependency_id === null) return `${kind === 'added' ? 'renamed' : kind} ${service_id}`;
  return `${kind === 'added' ? 'dependency' : kind === 'removed' ? 'missing' : kind} ${dependency_id}`;
}

interface OpenSpell {
  readonly node: string;
  readonly from: number;
  to: number | null;
  isLost: boolean;
  worst: 'degraded' | 'down';
}

/** What a dependency says of which node. */
interface Says {
  readonly node: string;
  readonly status: Status;
  readonly isThing: boolean;
}

interface Node {
  name: string;
  readonly isService: boolean;
  /** How many say what of a thing. */
  readonly said: Map<Status, number>;
  readonly spells: OpenSpell[];
  /** Since when it is known to be well, after its last spell. */
  wellSince: number | null;
}

class Watch {
  readonly #draft: Draft;
  readonly #nodes = new Map<string, Node>();
  readonly #says = new Map<string, Says>();
  readonly #leans = new Map<string, Set<string>>();
  /** Dependencies by what decides what they mean: their names, their services, their links. */
  readonly #by = new Map<string, Set<string>>();
  readonly #named = new Map<string, Set<string>>();
  /** What changed at the last moment: how it turned out is known when all of that moment was heard. */
  readonly #touched = new Set<string>();
  #at = -Infinity;

  constructor(start: Moment) {
    this.#draft = draftOf(start);
    for (const { id, key } of this.#draft.services.values()) put(this.#named, key, id);
    for (const { id } of this.#draft.services.values()) this.#service(id);
    for (const { id } of this.#draft.dependencies.values()) this.#dependency(id);
    for (const node of this.#touched) this.#judge(node, this.#since(node));
    this.#touched.clear();
  }

  hear(change: Change): void {
    if (change.at > this.#at) this.#settle();
    this.#at = change.at;
    const { dependency_id, service_id, kind } = change;
    if (dependency_id !== null) {
      apply(this.#draft, change);
      this.#dependency(dependency_id);
      return;
    }
    const before = this.#draft.services.get(service_id)?.key;
    apply(this.#draft, change);
    const after = this.#draft.services.get(service_id)?.key;
    if (before !== after) this.#rename(service_id, before, after);
    this.#service(service_id);
    if (kind === 'service') return;
    const keys = [`service ${service_id}`, `link ${service_id}`, `name ${before ?? ''}`, `name ${after ?? ''}`];
    const wanted = kind === 'stale' ? keys.slice(0, 1) : keys;
    for (const key of wanted) for (const id of [...(this.#by.get(key) ?? [])]) this.#dependency(id);
  }

  told(): Spells {
    this.#settle();
    const nodes = this.#nodes;
    const spells = [...nodes.values()].flatMap((node) => node.spells.filter(({ from, to }) => to === null || to > from));
    return {
      spells,
      leansOn: (node) => this.#leans.get(node) ?? NOBODY,
      nameOf: (node) => nodes.get(node)?.name ?? '',
      isService: (node) => nodes.get(node)?.isService ?? false,
    };
  }

  #settle(): void {
    for (const node of this.#touched) this.#judge(node, this.#at);
    this.#touched.clear();
  }

  #rename(service: string, before: string | undefined, after: string | undefined): void {
    if (before !== undefined) this.#named.get(before)?.delete(service);
    if (after !== undefined) put(this.#named, after, service);
  }

  #service(id: string): void {
    const service = this.#draft.services.get(id);
    if (service !== undefined) this.#node(id, service.name, true).name = service.name;
    if (this.#nodes.has(id)) this.#touched.add(id);
  }

  #dependency(id: string): void {
    const dependency = this.#draft.dependencies.get(id);
    if (dependency === undefined) return;
    put(this.#by, `service ${dependency.service}`, id);
    put(this.#by, `name ${dependency.key}`, id);
    if (dependency.linked !== null) put(this.#by, `link ${dependency.linked}`, id);
    const [before, after] = [this.#says.get(id), this.#saidBy(dependency)];
    if (before?.node === after?.node && before?.status === after?.status) return;
    if (before !== undefined) this.#count(before, -1);
    this.#says.delete(id);
    if (after === undefined) return;
    this.#node(after.node, dependency.name, !after.isThing);
    this.#says.set(id, after);
    this.#count(after, 1);
    put(this.#leans, dependency.service, after.node);
  }

  /** What a dependency says now; undefined when that is nothing, as of one that is closed. */
  #saidBy({ service, closed, key, linked, status, missingSince }: PastDependency): Says | undefined {
    const reporter = this.#draft.services.get(service);
    if (closed || reporter === undefined) return undefined;
    const isKnown = linked !== null && this.#draft.services.has(linked);
    const is = isKnown ? linked : [...(this.#named.get(key) ?? [])].sort()[0];
    if (is === service) return undefined;
    const isHidden = missingSince !== null || reporter.staleSince !== null;
    return { node: is ?? `external:${key}`, status: isHidden ? 'unknown' : status, isThing: is === undefined };
  }

  #count({ node, status, isThing }: Says, step: 1 | -1): void {
    const said = this.#nodes.get(node)?.said;
    if (said === undefined || !isThing) return;
    said.set(status, (said.get(status) ?? 0) + step);
    this.#touched.add(node);
  }

  #node(id: string, name: string, isService: boolean): Node {
    const known = this.#nodes.get(id) ?? { name, isService, said: new Map(), spells: [], wellSince: null };
    this.#nodes.set(id, known);
    return known;
  }

  /** Null for what is not there. */
  #status(id: string, { isService, said }: Node): Status | null {
    if (isService) return this.#draft.services.get(id)?.status ?? null;
    let found: Status | null = null;
    for (const [status, count] of said) {
      if (count > 0) found = found === null ? status : worse(found, status);
    }
    return found;
  }

  /** Since when a node is as it is where the span begins: of a thing, since the first found it so. */
  #since(id: string): number {
    const service = this.#draft.services.get(id);
    if (service !== undefined) return service.since;
    const about = [...(this.#by.get(`name ${id.slice(id.indexOf(':') + 1)}`) ?? [])];
    const ill = about.flatMap((one) => {
      const says = this.#says.get(one);
      const dependency = this.#draft.dependencies.get(one);
      return says?.node === id && isUnhealthy(says.status) && dependency !== undefined ? [dependency.since] : [];
    });
    return Math.min(...ill, Infinity);
  }

  #judge(id: string, at: number): void {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    const status = this.#status(id, node);
    const last = node.spells.at(-1);
    if (status === 'down' || status === 'degraded') {
      const goesOn = last !== undefined && (node.wellSince === null || at - node.wellSince < CALM_MS);
      const spell = goesOn ? last : { node: id, from: at, to: null, isLost: false, worst: status };
      if (spell !== last) node.spells.push(spell);
      spell.to = null;
      spell.isLost = false;
      if (status === 'down') spell.worst = 'down';
      node.wellSince = null;
      return;
    }
    const isWell = status === 'healthy' || status === 'skipped';
    if (isWell) node.wellSince ??= at;
    if (last?.to !== null) return;
    last.to = at;
    last.isLost = !isWell;
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}
