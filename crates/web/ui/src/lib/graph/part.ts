import type { GraphView } from '../api/graph';
import { narrow } from '../filter';
import { allNames, type OtherNames } from '../leaning';
import { listsOf, near } from './lists';
import { severity } from './then';

export const DEFAULT_DEPTH = 2;
export const DEPTHS = [1, 2, 3, 5] as const;

/** The depth of an address, within what the server takes. */
export function depthOf(text: string | undefined): number {
  const depth = Number(text ?? DEFAULT_DEPTH);
  return Number.isInteger(depth) && depth >= 0 && depth <= 20 ? depth : DEFAULT_DEPTH;
}

/** What stands near a service, as the server would tell it. */
export function partOfView(view: GraphView, service: string, depth: number): GraphView {
  const centre = view.nodes.findIndex(({ id }) => id === service);
  if (centre === -1) return { ...view, nodes: [], edges: [] };
  const kept = near(listsOf(view.nodes.length, view.edges), centre, depth);
  const place = new Map([...kept].sort((one, other) => one - other).map((old, now) => [old, now]));
  return {
    ...view,
    nodes: view.nodes.filter((_, old) => kept.has(old)),
    edges: view.edges.flatMap((edge) => {
      const [from, to] = [place.get(edge.from), place.get(edge.to)];
      return from === undefined || to === undefined ? [] : [{ ...edge, from, to }];
    }),
  };
}

/** The nodes that match, root causes first, then the worst; the order of the list and of `[` and `]`. */
export function rowsOf(view: GraphView, filter: string, others: OtherNames): GraphView['nodes'] {
  const roots = new Set(view.root_causes.flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  // What is compared is worked out once for each: thousands are put in order for every moment.
  return narrow(view.nodes, filter, ({ name, status, kind }) => [allNames(name, others), status, kind])
    .map((node) => ({ node, rank: severity(node.status) + (roots.has(node.id) ? ROOT_RANK : 0) }))
    .sort((one, other) => other.rank - one.rank || byName(one.node.name, other.node.name))
    .map(({ node }) => node);
}

/** More than any status counts. */
const ROOT_RANK = 100;
const byName = new Intl.Collator().compare;
