import type { GraphView } from '../api/graph';

export const NOTHING: GraphView = {
  at: null,
  records_since: null,
  nodes: [],
  edges: [],
  root_causes: [],
  cycles: [],
  truncated: false,
};

/** The same graph of which nobody says how it is: what stands there while the past is read. */
export function unknown(view: GraphView): GraphView {
  return {
    ...view,
    nodes: view.nodes.map((node) => ({
      ...node,
      status: 'unknown',
      since: null,
      root_causes: [],
      root_cause_count: 0,
    })),
    edges: view.edges.map(({ from, to }) => ({ from, to, status: 'unknown' })),
    root_causes: [],
  };
}
