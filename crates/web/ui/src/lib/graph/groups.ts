import type { GraphEdge, GraphNode, GraphView } from '../api/graph';
import type { Status } from '../status';
import { worse, worst } from './then';

/** What is drawn: a node of the graph, or a team whose services are folded into one. */
export interface DrawnNode {
  readonly id: string;
  readonly kind: 'service' | 'external' | 'team';
  readonly name: string;
  readonly status: Status;
  /** The slot and the layer. */
  readonly slot: number;
  readonly layer: number;
  readonly isRoot: boolean;
  readonly contradicted: boolean;
  /** How many nodes it stands for. */
  readonly count: number;
  /** The node in the view; -1 for a team. */
  readonly place: number;
}

export interface DrawnEdge {
  readonly from: number;
  readonly to: number;
  readonly status: Status;
  readonly missing: boolean;
  readonly contradicts: boolean;
}

export interface Drawn {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  /** The drawn node of each node of the view. */
  readonly of: Int32Array;
}

export interface Team {
  readonly name: string;
  readonly count: number;
  readonly status: Status;
}

/** Services that belong to nobody. */
export const NO_TEAM = '';
/** Above this the teams are folded at first: nobody reads more dots. */
export const MANY_NODES = 1_200;

export function teamId(name: string): string {
  return `team:${name}`;
}

export function teamName(name: string): string {
  return name === NO_TEAM ? 'No team' : name;
}

/** The teams of a view by name, with the worst of each: the same, folded or not. */
export function teamsOf(view: GraphView, teamOf: (service: string) => string): Team[] {
  const members = new Map<string, GraphNode[]>();
  owners(view, teamOf).forEach((team, place) => {
    const node = view.nodes[place];
    if (team === undefined || node === undefined) return;
    const known = members.get(team);
    if (known === undefined) members.set(team, [node]);
    else known.push(node);
  });
  return [...members]
    .map(([name, all]) => ({ name, count: services(all).length, status: statusOfTeam(all) }))
    .sort((one, other) => Number(one.name === NO_TEAM) - Number(other.name === NO_TEAM) || one.name.localeCompare(other.name));
}

/** The view with some teams folded. What only one folded team leans on is folded with it. */
export function fold(
  view: GraphView,
  teamOf: (service: string) => string,
  isFolded: (team: string) => boolean,
): Drawn {
  const roots = new Set(view.root_causes.flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  const contradicted = new Set(
    view.root_causes.filter((cause) => cause.contradicted).flatMap(({ nodes }) => nodes.map(({ id }) => id)),
  );
  const home = owners(view, teamOf).map((team) => (team !== undefined && isFolded(team) ? team : undefined));
  const of = new Int32Array(view.nodes.length).fill(-1);
  const nodes: DrawnNode[] = [];
  const folded = new Map<string, number[]>();
  view.nodes.forEach((node, place) => {
    const team = home[place];
    if (team !== undefined) {
      const members = folded.get(team);
      if (members === undefined) folded.set(team, [place]);
      else members.push(place);
      return;
    }
    of[place] = nodes.length;
    const { id, kind, name, status, x: slot, y: layer } = node;
    const marks = { isRoot: roots.has(id), contradicted: contradicted.has(id) };
    nodes.push({ id, kind, name, status, slot, layer, ...marks, count: 1, place });
  });
  for (const [team, members] of folded) {
    for (const place of members) of[place] = nodes.length;
    nodes.push(teamNode(view, team, members, roots));
  }
  const edges = joined(view.edges, of);
  return { nodes: folded.size === 0 ? nodes : moved(nodes, edges), edges, of };
}

/** A team stands in the middle of its services: what it leans on has to stand right of it all the same. */
function moved(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): DrawnNode[] {
  const layers = nodes.map(({ layer }) => layer);
  for (const { from, to } of edges) {
    if (nodes[to]?.kind === 'external') layers[to] = Math.max(layers[to] ?? 0, (nodes[from]?.layer ?? 0) + 1);
  }
  return nodes.map((node, place) => (node.layer === layers[place] ? node : { ...node, layer: layers[place] ?? node.layer }));
}

/** The team that each node belongs to: a service to its own, a thing to the one team that leans on it, if it is one. */
function owners(view: GraphView, teamOf: (service: string) => string): (string | undefined)[] {
  const owner = view.nodes.map(({ id, kind }) => (kind === 'service' ? teamOf(id) : undefined));
  /** The one team that leans on a thing; null when there are several. */
  const users = new Map<number, string | null>();
  for (const { from, to } of view.edges) {
    const [team, known] = [owner[from] ?? null, users.get(to)];
    users.set(to, known === undefined || known === team ? team : null);
  }
  return view.nodes.map(({ kind }, place) => (kind === 'external' ? (users.get(place) ?? undefined) : owner[place]));
}

const services = (nodes: readonly GraphNode[]) => nodes.filter(({ kind }) => kind === 'service');

/** As bad as the worst of its services and of what only they lean on. */
const statusOfTeam = (members: readonly GraphNode[]) => worst(members.map(({ status }) => status));

function teamNode(
  view: GraphView,
  team: string,
  members: readonly number[],
  roots: ReadonlySet<string>,
): DrawnNode {
  const all = members.flatMap((place) => view.nodes[place] ?? []);
  const own = services(all);
  return {
    id: teamId(team),
    kind: 'team',
    name: teamName(team),
    status: statusOfTeam(all),
    slot: middle(own.map(({ x }) => x)),
    layer: middle(own.map(({ y }) => y)),
    isRoot: all.some(({ id }) => roots.has(id)),
    contradicted: false,
    count: own.length,
    place: -1,
  };
}

function joined(edges: readonly GraphEdge[], of: Int32Array): DrawnEdge[] {
  const found = new Map<number, { -readonly [Field in keyof DrawnEdge]: DrawnEdge[Field] }>();
  const room = of.length + 1;
  for (const edge of edges) {
    const [from = -1, to = -1] = [of[edge.from], of[edge.to]];
    if (from === -1 || to === -1 || from === to) continue;
    const name = from * room + to;
    const known = found.get(name);
    const missing = edge.missing === true;
    const contradicts = edge.contradicts === true;
    if (known === undefined) {
      found.set(name, { from, to, status: edge.status, missing, contradicts });
      continue;
    }
    known.status = worse(known.status, edge.status);
    known.missing &&= missing;
    known.contradicts ||= contradicts;
  }
  return [...found.values()];
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[sorted.length >> 1] ?? 0;
}
