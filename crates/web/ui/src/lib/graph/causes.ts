import type { GraphCycle, GraphEdge, GraphNode, GraphNodeName, RootCause } from '../api/graph';
import { components } from './circles';
import { listsOf, type Lists } from './lists';

/** A node before anybody has asked why it is as it is. */
export type Plain = Omit<GraphNode, 'root_causes' | 'root_cause_count'>;

export interface Found {
  readonly nodes: GraphNode[];
  readonly root_causes: RootCause[];
  readonly cycles: GraphCycle[];
}

/** As the server does it: more names than these nobody reads. */
const MOST_NAMED = 5;
const MOST_MEMBERS = 20;

export function isUnhealthy(status: string): boolean {
  return status === 'degraded' || status === 'down';
}

/**
 * What is broken because of what, by the rules of the server: a component of failing nodes that
 * leans on no other failing one is a root cause, and whoever fails has those that it reaches.
 */
export function explain(
  plain: readonly Plain[],
  edges: readonly GraphEdge[],
  failingSince: (place: number) => number | null,
): Found {
  const { lists, circles } = shapeOf(plain.length, edges);
  const failing = components(lists.uses, (node) => isUnhealthy(plain[node]?.status ?? ''));
  const leading = failing.members.map((members, own) => leadingTo(members, own, lists, failing.of));
  const told = contradictions(edges);
  const leaning = leaningOn(plain, lists);
  const roots = failing.members
    .map((members, component) => ({ members, component }))
    .filter(({ component }) => leading[component]?.length === 0)
    .map(({ members, component }) => ({
      component,
      first: members[0] ?? 0,
      cause: cause(plain, members, leaning, failingSince, told),
    }))
    .sort((one, other) => byHurt(one.cause, other.cause) || one.first - other.first);
  const blames = blame(leading, roots.map(({ component }) => component));
  const nodes = plain.map((node, place) => {
    const all = blames[failing.of[place] ?? -1] ?? [];
    return { ...node, root_causes: all.slice(0, MOST_NAMED), root_cause_count: all.length };
  });
  return { nodes, root_causes: roots.map((root) => root.cause), cycles: circles.map((members) => cycleOf(plain, members)) };
}

function leadingTo(
  members: readonly number[],
  own: number,
  { uses }: Lists,
  of: Int32Array,
): number[] {
  const others = members.flatMap((member) => uses[member] ?? []).map((next) => of[next] ?? -1);
  return [...new Set(others)].filter((next) => next !== -1 && next !== own);
}

function contradictions(edges: readonly GraphEdge[]): Set<number> {
  return new Set(edges.filter((edge) => edge.contradicts).flatMap(({ from, to }) => [from, to]));
}

function cause(
  plain: readonly Plain[],
  members: readonly number[],
  leaning: Leaning,
  failingSince: (place: number) => number | null,
  told: ReadonlySet<number>,
): RootCause {
  const dates = members.map(failingSince).filter((date) => date !== null);
  return {
    nodes: named(plain, members),
    node_count: members.length,
    since: dates.length === 0 ? null : new Date(Math.min(...dates)).toISOString(),
    hurts: leaning(members, () => true),
    affected: leaning(members, (node) => isUnhealthy(plain[node]?.status ?? '')),
    contradicted: members.some((member) => told.has(member)),
  };
}

/** How many services lean on these nodes over nodes that count, themselves left out. */
type Leaning = (members: readonly number[], counts: (node: number) => boolean) => number;

/** Where much is broken this is asked for very often, so nothing is made anew for an answer. */
function leaningOn(plain: readonly Plain[], { users }: Lists): Leaning {
  const seen = new Int32Array(plain.length);
  const ahead = new Int32Array(plain.length);
  let turn = 0;
  return (members, counts) => {
    turn += 1;
    let [end, found] = [0, 0];
    for (const member of members) {
      seen[member] = turn;
      ahead[end] = member;
      end += 1;
    }
    for (let at = 0; at < end; at += 1) {
      for (const user of users[ahead[at] ?? -1] ?? []) {
        if (seen[user] === turn || !counts(user)) continue;
        seen[user] = turn;
        ahead[end] = user;
        end += 1;
        if (plain[user]?.kind === 'service') found += 1;
      }
    }
    return found;
  };
}

function named(plain: readonly Plain[], members: readonly number[]): GraphNodeName[] {
  return members.slice(0, MOST_MEMBERS).flatMap((member) => {
    const node = plain[member];
    return node === undefined
      ? []
      : [{ id: node.id, kind: node.kind, name: node.name, status: node.status }];
  });
}

function byHurt(one: RootCause, other: RootCause): number {
  return other.hurts - one.hurts || (one.since ?? '').localeCompare(other.since ?? '');
}

/** The roots that each component reaches. What a component leans on comes before it. */
function blame(leading: readonly number[][], roots: readonly number[]): number[][] {
  const blames: number[][] = [];
  leading.forEach((next, component) => {
    const own = roots.indexOf(component);
    const others = next.flatMap((other) => blames[other] ?? []);
    blames.push(own === -1 ? [...new Set(others)].sort((one, other) => one - other) : [own]);
  });
  return blames;
}

function cycleOf(plain: readonly Plain[], members: readonly number[]): GraphCycle {
  return { nodes: named(plain, members), node_count: members.length };
}

/** What follows from who leans on whom, however they are. */
interface Shape {
  readonly count: number;
  readonly edges: readonly GraphEdge[];
  readonly lists: Lists;
  readonly circles: readonly (readonly number[])[];
}

let last: Shape | null = null;

/** The same from moment to moment, until somebody leans on something else. */
function shapeOf(count: number, edges: readonly GraphEdge[]): Shape {
  if (last?.count === count && isSame(last.edges, edges)) return last;
  const lists = listsOf(count, edges);
  const circles = components(lists.uses, () => true).members.filter((members) => members.length > 1);
  last = { count, edges, lists, circles };
  return last;
}

function isSame(some: readonly GraphEdge[], others: readonly GraphEdge[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ from, to }, place) => from === others[place]?.from && to === others[place].to)
  );
}
