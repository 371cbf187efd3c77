import type { GraphEdge } from '../api/graph';

/** Where an edge leads from and to, as places in a list of nodes. */
export type Ends = Pick<GraphEdge, 'from' | 'to'>;

/** For each node, by its place, the nodes that edges lead to (or come from). */
export interface Lists {
  /** What each node leans on. */
  readonly uses: readonly (readonly number[])[];
  /** Who leans on each node. */
  readonly users: readonly (readonly number[])[];
}

export function listsOf(count: number, edges: readonly Ends[]): Lists {
  const uses: number[][] = Array.from({ length: count }, () => []);
  const users: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) {
    uses[from]?.push(to);
    users[to]?.push(from);
  }
  return { uses, users };
}

/** How many edges far each node is that can be reached over nodes that count, the start not counted. */
export function reach(
  lists: readonly (readonly number[])[],
  start: number,
  furthest = Infinity,
  counts: (node: number) => boolean = () => true,
): Map<number, number> {
  const found = new Map<number, number>([[start, 0]]);
  let edge = [start];
  for (let distance = 1; edge.length > 0 && distance <= furthest; distance += 1) {
    const next: number[] = [];
    for (const node of edge) {
      for (const other of lists[node] ?? []) {
        if (found.has(other) || !counts(other)) continue;
        found.set(other, distance);
        next.push(other);
      }
    }
    edge = next;
  }
  found.delete(start);
  return found;
}

/** What lies near a node, both ways, itself included. */
export function near({ uses, users }: Lists, node: number, depth: number): Set<number> {
  return new Set([node, ...reach(uses, node, depth).keys(), ...reach(users, node, depth).keys()]);
}
