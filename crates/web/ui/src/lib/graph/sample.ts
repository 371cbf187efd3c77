import type { GraphEdge, GraphNode, GraphView, HistoryItem, WholeState } from '../api/graph';

/** What tests are made of. */
export function node(name: string, more: Partial<GraphNode> = {}): GraphNode {
  const blank = { status: 'healthy', since: null, x: 0, y: 0, root_causes: [], root_cause_count: 0 } as const;
  return { id: name, kind: 'service', name, ...blank, root_causes: [], ...more };
}

export function thing(name: string, more: Partial<GraphNode> = {}): GraphNode {
  return node(name, { id: `external:${name}`, kind: 'external', ...more });
}

export function view(nodes: GraphNode[], edges: GraphEdge[] = [], more: Partial<GraphView> = {}): GraphView {
  return { at: null, records_since: null, nodes, edges, root_causes: [], cycles: [], truncated: false, ...more };
}

export const START = Date.parse('2026-11-15T21:00:00.000Z');

/** So many minutes after the start. */
export function minute(after: number): string {
  return new Date(START + after * 60_000).toISOString();
}

let last = 0;

export function item(
  at: number,
  kind: HistoryItem['kind'],
  service: string,
  dependency: string | null,
  after: string | null,
): HistoryItem {
  last += 1;
  return {
    id: String(last),
    at: minute(at),
    kind,
    service_id: service,
    dependency_id: dependency === null ? null : `${service}/${dependency}`,
    dependency_name: dependency,
    after,
  };
}

/** Everybody is healthy, and leans on what is named. */
export function state(leans: Record<string, string[]>): WholeState {
  const since = minute(-60);
  return {
    services: Object.keys(leans).map((name) => ({
      id: name,
      name,
      status: 'healthy' as const,
      status_since: since,
      stale_since: null,
    })),
    dependencies: Object.entries(leans).flatMap(([service, names]) =>
      names.map((name) => ({
        id: `${service}/${name}`,
        service_id: service,
        name,
        canonical_name: name,
        status: 'healthy' as const,
        status_since: since,
        missing_since: null,
        linked_service_id: null,
        is_closed: false,
      })),
    ),
  };
}
