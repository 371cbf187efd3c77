import type { GraphImpact, GraphNode, GraphView } from '../../lib/api/graph';
import type { NowCause } from '../../lib/api/now';
import { isUnhealthy } from '../../lib/graph/causes';
import { reach, type Lists } from '../../lib/graph/lists';
import { hurtsText } from '../../lib/now';
import { bySeverity } from '../../lib/graph/then';
import { grouped } from '../../lib/time';

/** Another node in a list of the panel. */
export interface Linked {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly note: string;
}

/** What a node leans on, as it is, with what is odd about it. */
export function usesOf(view: GraphView, place: number, isPast = false): Linked[] {
  const edges = view.edges.filter(({ from }) => from === place);
  return linked(view, edges.map((edge) => ({ place: edge.to, note: noteOf(edge, view.nodes[edge.to], isPast) })));
}

/** Who reports a thing, and what each says of it, the worst first. */
export function reportersOf(view: GraphView, place: number, isPast = false): Linked[] {
  const edges = view.edges.filter(({ to }) => to === place);
  return edges
    .flatMap(({ from, status, missing }) => {
      const node = view.nodes[from];
      if (node === undefined) return [];
      return [{ id: node.id, name: node.name, status, note: missing === true ? 'not any more' : saysText(status, isPast) }];
    })
    .sort((one, other) => bySeverity(one.status, other.status) || one.name.localeCompare(other.name));
}

/** Who leans on a node: those that fail because of it, and the others; each the nearest first. */
export interface Leaning {
  readonly affected: readonly Linked[];
  readonly others: readonly Linked[];
}

export function leaningOn(view: GraphView, lists: Lists, place: number): Leaning {
  const fails = (node: number) => isUnhealthy(view.nodes[node]?.status ?? '');
  const affected = fails(place) ? reach(lists.users, place, Infinity, fails) : new Map<number, number>();
  const all = [...reach(lists.users, place)]
    .flatMap(([user, distance]) => {
      const node = view.nodes[user];
      if (node?.kind !== 'service') return [];
      const { id, name, status } = node;
      return [{ id, name, status, note: stepsText(distance), distance, isAffected: affected.has(user) }];
    })
    .sort((one, other) => one.distance - other.distance || bySeverity(one.status, other.status) || one.name.localeCompare(other.name));
  return { affected: all.filter(({ isAffected }) => isAffected), others: all.filter(({ isAffected }) => !isAffected) };
}

/** The same as the server tells it, where only a part of the graph is here. */
export function leaningIn({ services }: GraphImpact): Leaning {
  const all = services.map(({ id, name, status, distance, affected }) => ({
    id, name, status, note: stepsText(distance), affected,
  }));
  return { affected: all.filter(({ affected }) => affected), others: all.filter(({ affected }) => !affected) };
}

/** The nodes of the root causes of a node, itself left out. */
export function causesOf(view: GraphView, node: GraphNode): Linked[] {
  return node.root_causes.flatMap((place) => {
    const cause = view.root_causes[place];
    const first = cause?.nodes[0];
    if (cause === undefined || first === undefined || cause.nodes.some(({ id }) => id === node.id)) return [];
    const hurts = hurtsText(cause);
    const note = cause.node_count > 1 ? `and ${grouped(cause.node_count - 1)} more, ${hurts}` : hurts;
    return [{ id: first.id, name: first.name, status: first.status, note }];
  });
}

/** Who says the opposite of how a root cause is, as far as the graph holds it. */
export function disputesIn(view: GraphView, cause: GraphView['root_causes'][number]): NowCause['disputes'] {
  const own = new Set(cause.nodes.map(({ id }) => id));
  return view.edges.flatMap(({ from, to, status, contradicts }) => {
    const [by, of] = [view.nodes[from], view.nodes[to]];
    if (contradicts !== true || by === undefined || of === undefined) return [];
    return own.has(by.id) || own.has(of.id) ? [{ by, of, says: status }] : [];
  });
}

function stepsText(distance: number): string {
  return distance === 1 ? 'directly' : `${grouped(distance)} steps away`;
}

function saysText(status: string, isPast: boolean): string {
  return `${isPast ? 'said' : 'says'} ${status}`;
}

function noteOf(edge: GraphView['edges'][number], to: GraphNode | undefined, isPast: boolean): string {
  if (edge.missing === true) return 'not reported any more';
  const says = saysText(edge.status, isPast);
  if (edge.contradicts === true) return `${says}: they ${isPast ? 'did' : 'do'} not agree`;
  return to !== undefined && to.status !== edge.status ? says : '';
}

function linked(view: GraphView, ends: readonly { place: number; note: string }[]): Linked[] {
  return ends
    .flatMap(({ place, note }) => {
      const node = view.nodes[place];
      return node === undefined ? [] : [{ id: node.id, name: node.name, status: node.status, note }];
    })
    .sort((one, other) => bySeverity(one.status, other.status) || one.name.localeCompare(other.name));
}
