import { readNode } from '../../lib/api/graph';
import type { Service } from '../../lib/api/services';
import { isolated } from '../../lib/isolate';
import { compared } from '../../lib/names';
import { grouped } from '../../lib/time';
import { asking } from '../../state/ask.svelte';
import { nameAll } from '../../state/naming';

/**
 * The names by which others report a service and mean it by its name alone: once it is called otherwise
 * they mean something else. None when it keeps its name.
 */
export async function reportedAs(service: Pick<Service, 'id' | 'name'> | null, name: string): Promise<string[]> {
  if (service === null || compared(service.name) === compared(name)) return [];
  const answer = await readNode(service.id);
  if (!answer.ok) return [];
  const meant = answer.value.reports.filter(
    ({ dependency }) => dependency.linked_service_id === null && compared(dependency.canonical_name) === compared(service.name),
  );
  return [...new Set(meant.map(({ dependency }) => dependency.name))];
}

/** Asks whether they shall go on to mean it. */
export function offerAlias(reported: readonly string[], name: string): void {
  const names = reported.map(isolated).join(', ');
  asking.ask({
    title: 'The same thing?',
    text: `Others report it as ${names}. Without an alias that is another thing from now on, and a root cause of its own when it fails.`,
    action: reported.length === 1 ? 'Make an alias' : `Make ${grouped(reported.length)} aliases`,
    otherwise: 'It is another thing',
    run: () => nameAll(reported, name),
  });
}
