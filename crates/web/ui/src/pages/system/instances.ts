import type { Instance, InstanceList } from '../../lib/api/instances';
import type { Status } from '../../lib/status';

/** How each state of an instance is drawn. */
const DRAWN: Record<Instance['state'], Status> = {
  alive: 'healthy',
  late: 'degraded',
  stopped: 'skipped',
  lost: 'down',
};

/** A state that a newer server knows and this page does not is drawn as unknown. */
export function drawn(state: string): Status {
  return Object.entries(DRAWN).find(([known]) => known === state)?.[1] ?? 'unknown';
}

export function isGone({ state }: Instance): boolean {
  return state === 'stopped' || state === 'lost';
}

/** How many shards nobody polls, in a sentence; null when all are polled. */
export function unowned({ shards, shards_unowned }: InstanceList): string | null {
  if (shards_unowned === 0) return null;
  const some = `${String(shards_unowned)} of ${String(shards)} shards`;
  return `Nobody polls ${some} now. An instance that is well takes them over within 15 seconds.`;
}
