import { failing, type Line } from './board';
import type { ServiceStatus } from './api/services';

export const ORDER_KEYS = [
  'status',
  'name',
  'team',
  'p95',
  'interval',
  'breaker',
  'warnings',
  'leans',
  'changed',
] as const;
export type OrderKey = (typeof ORDER_KEYS)[number];
export interface BoardOrder {
  readonly key: OrderKey;
  /** The other way round than the column's own. */
  readonly reverse: boolean;
}
export type Direction = 'ascending' | 'descending';

/** What is wrong stands on top unless somebody wants another order. */
export const DEFAULT_ORDER: BoardOrder = { key: 'status', reverse: false };

/** The order that an address asks for; what it does not know is no order. */
export function boardOrderOf(word: string | undefined): BoardOrder {
  const key = ORDER_KEYS.find((known) => known === word?.replace(/^-/, ''));
  return key === undefined ? DEFAULT_ORDER : { key, reverse: word?.startsWith('-') === true };
}

/** The word for an address; the usual order needs none. */
export function orderWord({ key, reverse }: BoardOrder): string {
  if (key === DEFAULT_ORDER.key && !reverse) return '';
  return reverse ? `-${key}` : key;
}

/** The order after a press on a column: its own, and the other way round the second time. */
export function pressed(order: BoardOrder, key: OrderKey): BoardOrder {
  return { key, reverse: order.key === key && !order.reverse };
}

/** Which way the values of a column go under an order; null when it is not ordered by it. */
export function directionOf(order: BoardOrder, key: OrderKey): Direction | null {
  if (order.key !== key) return null;
  return RISING.has(key) === order.reverse ? 'descending' : 'ascending';
}

/** The lines in an order; equal ones stand by name. */
export function ordered(lines: readonly Line[], { key, reverse }: BoardOrder): Line[] {
  const value = VALUES[key];
  const way = reverse ? -1 : 1;
  return lines.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a !== b) return missing(a, b) || (a < b ? -way : way);
    return key === 'name' ? way * (one.order - other.order) : one.order - other.order;
  });
}

const RANKS: Record<ServiceStatus, number> = { down: 0, degraded: 2, unknown: 4, healthy: 6 };
const INACTIVE = 8;
const BREAKERS: Record<Line['breaker'], number> = { open: 0, half_open: 1, closed: 2 };
/** Nobody looks for what has no value, so it stands last whichever way they look. */
const NONE = Number.POSITIVE_INFINITY;

/** What comes first has the lowest value. */
const VALUES: Record<OrderKey, (line: Line) => number> = {
  // The cause stands before what fails because of it.
  status: ({ active, status, cause }) =>
    active ? RANKS[status] + (cause === 'root' ? 0 : 1) : INACTIVE,
  name: () => 0,
  team: ({ team, teamOrder }) => (team === '' ? NONE : teamOrder),
  p95: ({ p95 }) => (p95 === null ? NONE : -p95),
  interval: ({ interval }) => interval,
  breaker: ({ breaker }) => BREAKERS[breaker],
  warnings: ({ warned }) => (warned ? 0 : 1),
  leans: (line) => -failing(line),
  changed: ({ sinceMs }) => -sinceMs,
};

/** Whose own order begins with the smallest; the others begin with the worst or the latest. */
const RISING: ReadonlySet<OrderKey> = new Set(['status', 'name', 'team', 'interval', 'breaker']);

function missing(a: number, b: number): number {
  if (a === NONE) return 1;
  return b === NONE ? -1 : 0;
}
