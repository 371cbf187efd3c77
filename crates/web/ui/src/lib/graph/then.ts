import type { GraphEdge, GraphView } from '../api/graph';
import { statusOf, type Status } from '../status';
import { explain, isUnhealthy, type Plain } from './causes';
import type { Moment, PastDependency } from './replay';

/** The place of a node on the server's grid. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** The graph of a moment, by the same rules as the server's. */
export function viewOf(
  moment: Moment,
  at: number,
  place: (id: string) => Place | undefined,
): GraphView {
  const draft = new Drawing(moment);
  const nodes = draft.plain(place);
  const edges = draft.edgesTo(nodes);
  const found = explain(nodes, edges, (node) => draft.failingSince(node, nodes));
  return { at: new Date(at).toISOString(), records_since: null, edges, truncated: false, ...found };
}

/** What counts more comes later, as on the server. */
const WEIGHT: Record<Status, number> = { skipped: 0, unknown: 1, healthy: 2, degraded: 3, down: 4 };

export function worst(statuses: Iterable<Status>): Status {
  let found: Status = 'skipped';
  for (const status of statuses) found = worse(found, status);
  return found;
}

export function worse(one: Status, other: Status): Status {
  return WEIGHT[other] > WEIGHT[one] ? other : one;
}

/** How bad a status is: the higher, the worse. */
export function severity(word: string): number {
  return WEIGHT[statusOf(word)];
}

/** The worst first. */
export function bySeverity(one: string, other: string): number {
  return severity(other) - severity(one);
}

/** Whether what is said of a node is the opposite of what it is. */
function contradicts(said: Status, is: Status): boolean {
  return is === 'healthy' ? isUnhealthy(said) : is === 'down' && said === 'healthy';
}

/** What one service says of one node. */
interface Said {
  readonly from: number;
  readonly to: string;
  status: Status;
  since: number;
  count: number;
  missing: boolean;
}

interface Thing {
  readonly id: string;
  readonly names: Map<string, number>;
  readonly said: Said[];
}

/** More nodes than a moment can have. */
const MOST_ENDS = 2 ** 24;

/** Puts the reports of a moment together. */
class Drawing {
  readonly #moment: Moment;
  readonly #ids: readonly string[];
  readonly #said: Said[] = [];
  readonly #things = new Map<string, Thing>();

  constructor(moment: Moment) {
    this.#moment = moment;
    this.#ids = idsOf(moment.services);
    this.#read();
  }

  plain(place: (id: string) => Place | undefined): readonly Plain[] {
    const nodes: Plain[] = [];
    const unplaced = new Set<number>();
    const add = (node: Omit<Plain, 'x' | 'y'>) => {
      const known = place(node.id);
      if (known === undefined) unplaced.add(nodes.length);
      nodes.push({ ...node, ...(known ?? { x: 0, y: 0 }) });
    };
    for (const id of this.#ids) {
      const service = this.#moment.services.get(id);
      if (service === undefined) continue;
      const { name, status, since } = service;
      add({ id, kind: 'service', name, status, since: iso(since) });
    }
    for (const { id, names, said } of this.#things.values()) {
      const status = worst(said.map((one) => one.status));
      const name = [...names].reduce((best, one) => (one[1] > best[1] ? one : best), ['', 0])[0];
      const since = sinceOf(said.filter((one) => one.status === status), status);
      add({ id, kind: 'external', name, status, since: iso(since) });
    }
    return placed(nodes, this.#said, unplaced);
  }

  edgesTo(nodes: readonly Plain[]): GraphEdge[] {
    const places = new Map(nodes.map(({ id }, index) => [id, index]));
    return this.#said.flatMap(({ from, to: id, status, count, missing }) => {
      const to = places.get(id);
      if (to === undefined) return [];
      const edge: GraphEdge = { from, to, status };
      if (count > 1) edge.count = count;
      if (missing) edge.missing = true;
      if (contradicts(status, nodes[to]?.status ?? 'unknown')) edge.contradicts = true;
      return [edge];
    });
  }

  /** Since when the first who find it failing did so; of a service, since when it is as it is. */
  failingSince(node: number, nodes: readonly Plain[]): number | null {
    const { id, since } = nodes[node] ?? { id: '', since: null };
    const said = this.#things.get(id)?.said.filter((one) => isUnhealthy(one.status));
    if (said === undefined) return since === null ? null : Date.parse(since);
    return said.length === 0 ? null : Math.min(...said.map((one) => one.since));
  }

  #read(): void {
    const places = new Map(this.#ids.map((id, index) => [id, index]));
    const byName = new Map<string, string>();
    for (const id of this.#ids) {
      const key = this.#moment.services.get(id)?.key ?? '';
      if (!byName.has(key)) byName.set(key, id);
    }
    // By number: a text for each edge of each moment would be dear.
    const numbers = new Map(places);
    const edges = new Map<number, Said>();
    for (const dependency of this.#moment.dependencies.values()) {
      const from = places.get(dependency.service);
      if (dependency.closed || from === undefined) continue;
      const { linked, key } = dependency;
      const service = linked !== null && places.has(linked) ? linked : byName.get(key);
      if (service === dependency.service) continue;
      const to = service ?? `external:${key}`;
      const number = numbers.get(to) ?? numbers.size;
      numbers.set(to, number);
      this.#add(edges, from * MOST_ENDS + number, from, to, dependency, service === undefined);
    }
  }

  #add(
    edges: Map<number, Said>,
    name: number,
    from: number,
    to: string,
    dependency: PastDependency,
    isThing: boolean,
  ): void {
    const { status, since } = this.#heard(dependency);
    const missing = dependency.missingSince !== null;
    const known = edges.get(name);
    if (known === undefined) {
      const said: Said = { from, to, status, since, count: 1, missing };
      edges.set(name, said);
      this.#said.push(said);
      if (isThing) this.#thing(to).said.push(said);
    } else {
      known.since = status === known.status ? sinceOf([known, { since }], status) : WEIGHT[status] > WEIGHT[known.status] ? since : known.since;
      known.status = worse(known.status, status);
      known.count += 1;
      known.missing &&= missing;
    }
    if (!isThing) return;
    const { names } = this.#thing(to);
    names.set(dependency.name, (names.get(dependency.name) ?? 0) + 1);
  }

  /** What is missing, or told by a service that can't be asked, tells nothing. */
  #heard(dependency: PastDependency): { status: Status; since: number } {
    const stale = this.#moment.services.get(dependency.service)?.staleSince ?? null;
    const hidden = [dependency.missingSince, stale].filter((since) => since !== null);
    if (hidden.length === 0) return { status: dependency.status, since: dependency.since };
    return { status: 'unknown', since: Math.min(...hidden) };
  }

  #thing(id: string): Thing {
    const known = this.#things.get(id) ?? { id, names: new Map(), said: [] };
    this.#things.set(id, known);
    return known;
  }
}

let sorted: readonly string[] = [];

/** The services in their order, which is the same from moment to moment until one comes or goes. */
function idsOf(services: Moment['services']): readonly string[] {
  const isSame = sorted.length === services.size && sorted.every((id) => services.has(id));
  if (!isSame) sorted = [...services.keys()].sort();
  return sorted;
}

/** Of many who say the same: the first when something is wrong, else the last. */
function sinceOf(said: readonly { readonly since: number }[], status: Status): number {
  const dates = said.map(({ since }) => since);
  return isUnhealthy(status) ? Math.min(...dates) : Math.max(...dates);
}

/** Most of them are the same from moment to moment. */
const written = new Map<number, string>();
const MOST_WRITTEN = 20_000;

function iso(time: number): string | null {
  if (!Number.isFinite(time)) return null;
  const known = written.get(time) ?? new Date(time).toISOString();
  if (written.size >= MOST_WRITTEN) written.clear();
  written.set(time, known);
  return known;
}

/** What is not drawn today stands right of who leant on it, below everybody else. */
function placed(nodes: readonly Plain[], said: readonly Said[], unplaced: ReadonlySet<number>): readonly Plain[] {
  if (unplaced.size === 0) return nodes;
  const index = new Map(nodes.map(({ id }, at) => [id, at]));
  const layerOf = (at: number): number[] => (unplaced.has(at) ? [] : [nodes[at]?.y ?? 0]);
  const users = new Map<number, number[]>();
  const used = new Map<number, number[]>();
  for (const { from, to: id } of said) {
    const to = index.get(id) ?? -1;
    if (unplaced.has(to)) users.set(to, [...(users.get(to) ?? []), ...layerOf(from)]);
    if (unplaced.has(from)) used.set(from, [...(used.get(from) ?? []), ...layerOf(to)]);
  }
  const below = new Map<number, number>();
  nodes.forEach(({ x, y }, at) => {
    if (!unplaced.has(at)) below.set(y, Math.max(below.get(y) ?? -2, x));
  });
  return nodes.map((node, at) => {
    if (!unplaced.has(at)) return node;
    const [left = [], right = []] = [users.get(at), used.get(at)];
    const y = left.length > 0 ? Math.max(...left) + 1 : right.length > 0 ? Math.min(...right) - 1 : 0;
    const x = (below.get(y) ?? -2) + 2;
    below.set(y, x);
    return { ...node, x, y };
  });
}
