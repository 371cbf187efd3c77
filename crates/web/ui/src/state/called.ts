import type { Dependency } from '../lib/api/dependencies';
import { called, compared, type Called } from '../lib/names';
import { nodeAt, thingOf, type Route } from '../lib/route';
import { board } from './board.svelte';

type Reported = Pick<Dependency, 'name' | 'canonical_name' | 'linked_service_id'>;

/** What a dependency is called: the service that it is linked to, or else its name by the aliases. */
export function calledOf({ name, canonical_name, linked_service_id }: Reported): Called {
  return called(board.line(linked_service_id)?.name ?? canonical_name, name);
}

/** Where the thing that it is stands in full. */
export function thingAt({ canonical_name, linked_service_id }: Reported): Route {
  if (linked_service_id !== null) return nodeAt(linked_service_id);
  const key = compared(canonical_name);
  const service = board.lines?.find(({ nameKey }) => nameKey === key);
  return nodeAt(service?.id ?? thingOf(canonical_name));
}
