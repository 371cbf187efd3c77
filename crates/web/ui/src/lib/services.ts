import type { Slice } from './api/accounts';
import type { Breaker, Service, ServiceStatus } from './api/services';
import type { LiveEvent } from './live/messages';
import { STATUSES, type Status } from './status';
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

/** The worst first, as the list has them. */
export const SERVICE_STATUSES: readonly ServiceStatus[] = ['down', 'degraded', 'unknown', 'healthy'];

export const SORTS = ['status', 'name', 'last_polled'] as const;
export type SortKey = (typeof SORTS)[number];
export interface Order {
  readonly key: SortKey;
  readonly reverse: boolean;
}

/** What is wrong stands on top unless somebody wants another order. */
const DEFAULT_ORDER: Order = { key: 'status', reverse: false };

/** The order that an address asks for; what it does not know is no order. */
export function orderOf(word: string | undefined): Order {
  const key = SORTS.find((sort) => sort === word?.replace(/^-/, ''));
  return key === undefined ? DEFAULT_ORDER : { key, reverse: word?.startsWith('-') === true };
}

export function sortOf({ key, reverse }: Order): string {
  return reverse ? `-${key}` : key;
}

/** The order after a press on a column: its own, and the other way round the second time. */
export function turned(order: Order, key: SortKey): Order {
  return { key, reverse: order.key === key && !order.reverse };
}

/** The status of an address; another word narrows nothing. */
export function serviceStatusOf(word: string | undefined): ServiceStatus | null {
  return SERVICE_STATUSES.find((status) => status === word) ?? null;
}

/** The services after something happened: what it tells is there at once, the rest is read. */
export function heard(services: readonly Service[], event: LiveEvent): Service[] {
  const id = event['service_id'];
  if (event.type === 'service:stopped' && event['removed'] === true) {
    return services.filter((service) => service.id !== id);
  }
  return services.map((service) => (service.id === id ? after(service, event) : service));
}

/** "Orders is down", for those who listen; null for what is no change of status. */
export function told(event: LiveEvent): string | null {
  const { service_name: name, current } = event;
  if (event.type !== 'service:status' || typeof name !== 'string') return null;
  return typeof current === 'string' ? `${name} is ${current}` : null;
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

/** How many services have each status, as far as the first page of the worst ones tells. */
export interface Tally {
  readonly status: Status;
  readonly text: string;
}

export function tally({ items, next_cursor }: Slice<Service>): Tally[] {
  const last = items.at(-1)?.status;
  return SERVICE_STATUSES.map((status) => {
    const count = items.filter((service) => service.status === status).length;
    // There may be more of those that the page ends with.
    const open = next_cursor !== null && status === last;
    return { status, count, text: `${grouped(count)}${open ? '+' : ''}` };
  })
    .filter(({ count }) => count > 0)
    .map(({ status, text }) => ({ status, text }));
}

function after(service: Service, event: LiveEvent): Service {
  switch (event.type) {
    case 'service:status': {
      const status = STATUSES.find((known) => known === event['current']);
      if (status === undefined || status === 'skipped' || status === service.status) return service;
      return { ...service, status, status_since: event.at };
    }
    case 'circuit:open':
      return { ...service, breaker: { ...service.breaker, state: 'open' } };
    case 'circuit:half_open':
      return { ...service, breaker: { ...service.breaker, state: 'half_open' } };
    case 'circuit:close':
      return { ...service, breaker: { state: 'closed', failures: 0, retry_at: null } };
    default:
      return service;
  }
}
