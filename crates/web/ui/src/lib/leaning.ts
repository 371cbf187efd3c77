import type { Alias } from './api/aliases';
import type { GraphView } from './api/graph';
import { compared } from './names';
import { counted } from './time';

/** By what other names services report things, in lower case, one below the other; by name as it is compared. */
export type OtherNames = ReadonlyMap<string, string>;

export function otherNames(aliases: readonly Pick<Alias, 'alias' | 'canonical_name'>[]): OtherNames {
  const names = new Map<string, string>();
  for (const { alias, canonical_name } of aliases) add(names, compared(canonical_name), alias.toLowerCase());
  return names;
}

/** A name in lower case, and the others below it. */
export function allNames(name: string, others: OtherNames): string {
  const more = others.get(compared(name));
  return more === undefined ? name.toLowerCase() : `${name.toLowerCase()}\n${more}`;
}

/** The names of what each service leans on, in lower case, one below the other. */
export function namesIn({ nodes, edges }: Pick<GraphView, 'nodes' | 'edges'>, others: OtherNames): Map<string, string> {
  const names = new Map<string, string>();
  for (const { from, to } of edges) {
    const [service, thing] = [nodes[from], nodes[to]];
    if (service === undefined || thing === undefined) continue;
    add(names, service.id, allNames(thing.name, others));
  }
  return names;
}

/** How many name it as what they lean on; who leans on it over others is not among them. */
export function leanText(count: number): string {
  if (count === 0) return 'nobody leans on it';
  return `${counted(count, count, 'service')} ${count === 1 ? 'leans' : 'lean'} on it directly`;
}

function add(names: Map<string, string>, key: string, name: string): void {
  const before = names.get(key);
  names.set(key, before === undefined ? name : `${before}\n${name}`);
}
