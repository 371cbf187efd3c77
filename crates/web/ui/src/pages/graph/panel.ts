import type { GraphImpact, GraphNode, GraphView } from '../../lib/api/graph';
import { reach, type Lists } from '../../lib/graph/lists';
import { bySeverity } from '../../lib/graph/then';

/** Another node in a list of the panel. */
export interface Linked {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly note: string;
}

/** What a node leans on, as it is, with what is odd about it. */
export function usesOf(view: GraphView, place: number): Linked[] {
  const edges = view.edges.filter(({ from }) => from === place);
  return linked(view, edges.map((edge) => ({ place: edge.to, note: noteOf(edge, view.nodes[edge.to]) })));
}

/** Who reports a thing, and what each says of it. */
export function reportersOf(view: GraphView, place: number): Linked[] {
  const edges = view.edges.filter(({ to }) => to === place);
  return linked(view, edges.map((edge) => ({
    place: edge.from,
    note: edge.missing === true ? 'not any more' : `says ${edge.status}`,
  })));
}

/** Every service that leans on it, the nearest first. */
export function hurtBy(view: GraphView, lists: Lists, place: number): Linked[] {
  const found = reach(lists.users, place);
  return [...found]
    .flatMap(([user, distance]) => {
      const node = view.nodes[user];
      if (node?.kind !== 'service') return [];
      const note = stepsText(distance);
      return [{ id: node.id, name: node.name, status: node.status, note, distance }];
    })
    .sort((one, other) => one.distance - other.distance || bySeverity(one.status, other.status) || one.name.localeCompare(other.name));
}

/** The same as the server tells it, where only a part of the graph is here. */
export function hurtOf({ services }: GraphImpact): Linked[] {
  return services.map(({ id, name, status, distance }) => ({ id, name, status, note: stepsText(distance) }));
}

/** The nodes of the root causes of a node, itself left out. */
export function causesOf(view: GraphView, node: GraphNode): Linked[] {
  return node.root_causes.flatMap((place) => {
    const cause = view.root_causes[place];
    const first = cause?.nodes[0];
    if (cause === undefined || first === undefined || cause.nodes.some(({ id }) => id === node.id)) return [];
    const hurts = `hurts ${String(cause.hurts)}`;
    const note = cause.node_count > 1 ? `and ${String(cause.node_count - 1)} more, ${hurts}` : hurts;
    return [{ id: first.id, name: first.name, status: first.status, note }];
  });
}

function stepsText(distance: number): string {
  return distance === 1 ? 'directly' : `${String(distance)} steps away`;
}

function noteOf(edge: GraphView['edges'][number], to: GraphNode | undefined): string {
  if (edge.missing === true) return 'not reported any more';
  if (edge.contradicts === true) return `says ${edge.status}: they do not agree`;
  return to !== undefined && to.status !== edge.status ? `says ${edge.status}` : '';
}

function linked(view: GraphView, ends: readonly { place: number; note: string }[]): Linked[] {
  return ends
    .flatMap(({ place, note }) => {
      const node = view.nodes[place];
      return node === undefined ? [] : [{ id: node.id, name: node.name, status: node.status, note }];
    })
    .sort((one, other) => bySeverity(one.status, other.status) || one.name.localeCompare(other.name));
}
