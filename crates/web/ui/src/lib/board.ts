import type { BoardItem, Cause } from './api/board';
import type { ServiceStatus } from './api/services';
import { isUnhealthy } from './graph/causes';
import type { LiveEvent } from './live/messages';
import { SERVICE_STATUSES } from './services';
import { STATUSES } from './status';

/** What the p95 of a service is of: nothing is summed up more often, so it follows slowly. */
export const P95_TITLE = 'p95, 15 min';

/** A service on the board, with what is sought and ordered by worked out beforehand. */
export interface Line {
  readonly id: string;
  readonly name: string;
  /** Empty without one. */
  readonly team: string;
  readonly active: boolean;
  readonly interval: number;
  readonly status: ServiceStatus;
  readonly since: string;
  /** Since when it is degraded or down without a break; null while it is neither. */
  readonly failingSince: string | null;
  readonly breaker: BoardItem['breaker'];
  readonly p95: number | null;
  readonly warned: boolean;
  readonly counts: BoardItem['dependency_counts'];
  readonly cause: Cause;
  /** In lower case: what words are sought in. */
  readonly nameKey: string;
  readonly teamKey: string;
  /** Its place by name, and that of its team. */
  readonly order: number;
  readonly teamOrder: number;
  readonly sinceMs: number;
}

/** What an event tells of a service before it is read again. */
export interface Patch {
  readonly status?: { readonly is: ServiceStatus; readonly since: string };
  readonly breaker?: BoardItem['breaker'];
  readonly active?: boolean;
  readonly gone?: boolean;
}

/** Those of a board. One that has not changed stays the same object, so that nothing draws it again. */
export function linesOf(items: readonly BoardItem[], before: readonly Line[]): Line[] {
  const known = byId(before);
  const names = sameNames(items, before)
    ? before.map(({ order }) => order)
    : places(items.map(({ name }) => name));
  const teams = teamPlaces(items);
  return items.map((item, at) => {
    const old = known.get(item.id);
    const line = lineOf(item, names[at] ?? at, teams.get(item.team ?? '') ?? 0, old);
    return old !== undefined && isSame(old, line) ? old : line;
  });
}

/** What an event tells of which service; null when it is for the next read to tell. */
export function patchOf(event: LiveEvent): { id: string; patch: Patch } | null {
  const id = event['service_id'];
  if (typeof id !== 'string') return null;
  const patch = patchIn(event);
  return patch === null ? null : { id, patch };
}

export function patched(line: Line, { status, breaker, active }: Patch): Line {
  // What was read may be younger than what was heard.
  const moves = status !== undefined && Date.parse(status.since) >= line.sinceMs;
  return {
    ...line,
    ...(moves
      ? {
          status: status.is,
          since: status.since,
          sinceMs: Date.parse(status.since),
          failingSince: isUnhealthy(status.is) ? (line.failingSince ?? status.since) : null,
        }
      : {}),
    ...(breaker === undefined ? {} : { breaker }),
    ...(active === undefined ? {} : { active }),
  };
}

/** All lines after what was heard of some of them: one walk for many events. */
export function withPatches(lines: readonly Line[], patches: ReadonlyMap<string, Patch>): Line[] {
  const after: Line[] = [];
  for (const line of lines) {
    const patch = patches.get(line.id);
    if (patch === undefined) after.push(line);
    else if (patch.gone !== true) after.push(patched(line, patch));
  }
  return after;
}

export function byId(lines: readonly Line[]): ReadonlyMap<string, Line> {
  return new Map(lines.map((line) => [line.id, line]));
}

/** How many of what it leans on do not work. */
export function failing({ counts }: Pick<Line, 'counts'>): number {
  return counts.down + counts.degraded;
}

/** The word for how it is. */
export function lineWord({ active, status }: Pick<Line, 'active' | 'status'>): string {
  return active ? status : 'inactive';
}

function lineOf(item: BoardItem, order: number, teamOrder: number, old: Line | undefined): Line {
  const team = item.team ?? '';
  return {
    id: item.id,
    name: item.name,
    team,
    active: item.is_active,
    interval: item.poll_interval_ms,
    status: item.status,
    since: item.status_since,
    failingSince: item.failing_since,
    breaker: item.breaker,
    p95: item.p95_ms,
    warned: item.has_warnings,
    counts: item.dependency_counts,
    cause: item.cause,
    nameKey: old?.name === item.name ? old.nameKey : item.name.toLowerCase(),
    teamKey: old?.team === team ? old.teamKey : team.toLowerCase(),
    order,
    teamOrder,
    sinceMs: old?.since === item.status_since ? old.sinceMs : Date.parse(item.status_since),
  };
}

const FIELDS = [
  'name',
  'team',
  'active',
  'interval',
  'status',
  'since',
  'failingSince',
  'breaker',
  'p95',
  'warned',
  'cause',
  'order',
  'teamOrder',
] as const satisfies readonly (keyof Line)[];

function isSame(one: Line, other: Line): boolean {
  return (
    FIELDS.every((field) => one[field] === other[field]) &&
    STATUSES.every((status) => one.counts[status] === other.counts[status])
  );
}

function sameNames(items: readonly BoardItem[], before: readonly Line[]): boolean {
  return (
    items.length === before.length && items.every(({ name }, at) => before[at]?.name === name)
  );
}

/** Names with numbers in them stand in the order of the numbers. */
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** The place of each among the others. */
function places(names: readonly string[]): number[] {
  const order = names.map((_, at) => at);
  order.sort((one, other) => collator.compare(names[one] ?? '', names[other] ?? '') || one - other);
  const found = new Array<number>(names.length);
  for (const [place, at] of order.entries()) found[at] = place;
  return found;
}

/** Those without a team come after all teams. */
function teamPlaces(items: readonly BoardItem[]): Map<string, number> {
  const teams = [...new Set(items.map(({ team }) => team ?? ''))].filter((team) => team !== '');
  teams.sort((one, other) => collator.compare(one, other));
  return new Map([...teams, ''].map((team, place) => [team, place]));
}

function patchIn(event: LiveEvent): Patch | null {
  switch (event.type) {
    case 'service:status': {
      const is = SERVICE_STATUSES.find((known) => known === event['current']);
      return is === undefined ? null : { status: { is, since: event.at } };
    }
    case 'circuit:open':
      return { breaker: 'open' };
    case 'circuit:half_open':
      return { breaker: 'half_open' };
    case 'circuit:close':
      return { breaker: 'closed' };
    case 'service:started':
      return { active: true };
    case 'service:stopped':
      return event['removed'] === true ? { gone: true } : { active: false };
    default:
      return null;
  }
}
