import { quoted } from '../board-words';
import { at, type Route } from '../route';

/** Where a name of a report leads: to the service of that name, or to all that lean on the thing. */
export function leadsTo(
  name: string,
  services: readonly { readonly id: string; readonly nameKey: string }[],
  things: readonly { readonly canonical_name: string }[],
): Route | null {
  const key = name.trim().toLowerCase();
  if (key === '') return null;
  const service = services.find(({ nameKey }) => nameKey === key);
  if (service !== undefined) return at('service', { id: service.id });
  const thing = things.find(({ canonical_name }) => canonical_name.toLowerCase() === key);
  if (thing === undefined) return null;
  return { ...at('services'), filter: `dep:${quoted(thing.canonical_name)}` };
}
