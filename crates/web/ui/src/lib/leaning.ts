import type { GraphView } from './api/graph';

/** The names of what each service leans on, in lower case, one below the other. */
export function namesIn({ nodes, edges }: Pick<GraphView, 'nodes' | 'edges'>): Map<string, string> {
  const names = new Map<string, string>();
  for (const { from, to } of edges) {
    const [service, thing] = [nodes[from], nodes[to]];
    if (service === undefined || thing === undefined) continue;
    const name = thing.name.toLowerCase();
    const before = names.get(service.id);
    names.set(service.id, before === undefined ? name : `${before}\n${name}`);
  }
  return names;
}
