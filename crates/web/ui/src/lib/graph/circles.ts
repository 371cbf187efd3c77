/**
 * The components of those nodes that count: nodes that reach each other. Tarjan's way, without
 * recursion, because a chain may be as long as the graph.
 */
export interface Components {
  /** The component of each node; -1 for one that does not count. */
  readonly of: Int32Array;
  /** The members of each; what a component leans on has a smaller number. */
  readonly members: readonly (readonly number[])[];
}

export function components(
  uses: readonly (readonly number[])[],
  counts: (node: number) => boolean,
): Components {
  const search = new Search(uses, counts);
  for (let node = 0; node < uses.length; node += 1) {
    if (counts(node)) search.from(node);
  }
  return { of: search.of, members: search.members };
}

class Search {
  readonly of: Int32Array;
  readonly members: number[][] = [];
  readonly #order: Int32Array;
  readonly #low: Int32Array;
  readonly #waiting: number[] = [];
  #seen = 0;

  constructor(
    readonly uses: readonly (readonly number[])[],
    readonly counts: (node: number) => boolean,
  ) {
    this.of = new Int32Array(uses.length).fill(-1);
    this.#order = new Int32Array(uses.length).fill(-1);
    this.#low = new Int32Array(uses.length);
  }

  from(start: number): void {
    if (this.#at(this.#order, start) !== -1) return;
    const path = [this.#enter(start)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const next = this.uses[step.node]?.[step.edge];
      step.edge += 1;
      if (next === undefined) {
        path.pop();
        this.#leave(step.node, path.at(-1)?.node);
      } else if (this.counts(next)) {
        if (this.#at(this.#order, next) === -1) path.push(this.#enter(next));
        else if (this.#at(this.of, next) === -1) this.#lower(step.node, this.#at(this.#order, next));
      }
    }
  }

  #enter(node: number): { node: number; edge: number } {
    this.#order[node] = this.#seen;
    this.#low[node] = this.#seen;
    this.#seen += 1;
    this.#waiting.push(node);
    return { node, edge: 0 };
  }

  #leave(node: number, parent: number | undefined): void {
    if (this.#at(this.#low, node) === this.#at(this.#order, node)) this.#close(node);
    if (parent !== undefined) this.#lower(parent, this.#at(this.#low, node));
  }

  #close(first: number): void {
    const members = this.#waiting.splice(this.#waiting.lastIndexOf(first));
    for (const member of members) this.of[member] = this.members.length;
    this.members.push(members.sort((one, other) => one - other));
  }

  #lower(node: number, order: number): void {
    this.#low[node] = Math.min(this.#at(this.#low, node), order);
  }

  #at(list: Int32Array, node: number): number {
    return list[node] ?? -1;
  }
}
