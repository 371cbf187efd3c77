import type { Breaker, Service, ServiceStatus } from './api/services';
import { isolated } from './isolate';
import type { LiveEvent } from './live/messages';
import type { Status } from './status';
import { grouped } from './time';

/** What the stream tells of services and of what they lean on. */
export const SERVICE_EVENTS = [
  'service:status',
  'service:updated',
  'service:started',
  'service:stopped',
  'circuit:open',
  'circuit:half_open',
  'circuit:close',
  'poll:error',
  'poll:recovered',
  'dependency:status',
] as const;

/** After these something else may be broken because of something else. */
export const GRAPH_EVENTS = [...SERVICE_EVENTS, 'alias:updated', 'link:updated'] as const;

/** After these something else leans on something else, or by another name. */
export const TOPOLOGY_EVENTS = [
  'service:updated',
  'service:started',
  'service:stopped',
  'alias:updated',
  'link:updated',
] as const;

/** After these there is a change more. */
export const CHANGE_EVENTS = ['service:status', 'dependency:status'] as const;

/** The worst first, as the list has them. */
export const SERVICE_STATUSES: readonly ServiceStatus[] = ['down', 'degraded', 'unknown', 'healthy'];

/** "Orders is down", for those who listen; null for what is no change of status. */
export function told(event: LiveEvent): string | null {
  const { service_name: name, current } = event;
  if (event.type !== 'service:status' || typeof name !== 'string') return null;
  return typeof current === 'string' ? `${isolated(name)} is ${current}` : null;
}

/** The word for how a service is. */
export function serviceWord({ is_active, status }: Pick<Service, 'is_active' | 'status'>): string {
  return is_active ? status : 'inactive';
}

/** What the breaker says, in a few words; a closed one has nothing to say. */
export function breakerText({ state, failures }: Pick<Breaker, 'state' | 'failures'>): string {
  const times = failures === 1 ? '1 failure' : `${grouped(failures)} failures`;
  if (state === 'open') return `open after ${times}`;
  if (state === 'half_open') return 'half open: the next poll decides';
  return failures > 0 ? `closed, ${times} in a row` : 'closed';
}

/** How many dependencies have each status, the worst first, without those that none has. */
export function countsOf(counts: Service['dependency_counts']): { status: Status; count: number }[] {
  const order: readonly Status[] = ['down', 'degraded', 'unknown', 'healthy', 'skipped'];
  return order.map((status) => ({ status, count: counts[status] })).filter(({ count }) => count > 0);
}

/** Why a service is not healthy, in one line: its own error, or what it leans on. */
export function whyText({ last_poll, dependency_counts, status }: Service): string {
  if (last_poll?.error) return last_poll.error.message;
  if (last_poll === null) return 'not polled yet';
  const bad = countsOf(dependency_counts).filter((part) => part.status === 'down' || part.status === 'degraded');
  if (bad.length > 0) {
    return `of what it leans on, ${bad.map((part) => `${grouped(part.count)} ${part.status}`).join(' and ')}`;
  }
  return status === 'unknown' ? 'not polled for too long' : '';
}
