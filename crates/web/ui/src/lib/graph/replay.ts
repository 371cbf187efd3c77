import type { HistoryItem, HistoryPage, WholeState } from '../api/graph';
import { statusOf, type Status } from '../status';

/** A service as it was. */
export interface PastService {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  readonly since: number;
  readonly staleSince: number | null;
}

/** A dependency as it was. */
export interface PastDependency {
  readonly id: string;
  readonly service: string;
  readonly name: string;
  /** The canonical name as it is compared. */
  readonly key: string;
  readonly status: Status;
  readonly since: number;
  readonly missingSince: number | null;
  readonly linked: string | null;
  readonly closed: boolean;
}

/** How everything was. */
export interface Moment {
  readonly services: ReadonlyMap<string, PastService>;
  readonly dependencies: ReadonlyMap<string, PastDependency>;
}

interface Change extends Omit<HistoryItem, 'at'> {
  readonly at: number;
}

/** A state on the way, good for every moment that all changes before it had happened by. */
interface Stop {
  readonly index: number;
  readonly latest: number;
  readonly state: Moment;
}

/** So few that a graph of many thousands fits in memory with all of them. */
const STOPS = 24;
const LEAST_BETWEEN = 200;

/** A span of the past to go to and fro in: any moment of it at the price of a few changes. */
export class Replay {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly Change[];
  /** The times of all changes, in the order of time. */
  readonly times: readonly number[];
  readonly #stops: readonly Stop[];
  /** The earliest time among the changes from each place on. */
  readonly #earliest: Float64Array;
  #last: { count: number; state: Moment } | null = null;

  constructor(from: number, to: number, state: WholeState | null, items: readonly HistoryItem[]) {
    this.from = from;
    this.to = to;
    this.changes = items.map((item) => ({ ...item, at: Date.parse(item.at) }));
    this.times = this.changes.map(({ at }) => at).sort((one, other) => one - other);
    this.#earliest = earliest(this.changes);
    this.#stops = stops(this.changes, momentOf(state));
  }

  /** How many changes had happened by then. The same number means the same state. */
  countAt(moment: number): number {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] ?? Infinity) <= moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How everything was then; between two changes it is one and the same object. */
  at(moment: number): Moment {
    const count = this.countAt(moment);
    if (this.#last?.count === count) return this.#last.state;
    const state = this.#build(moment);
    this.#last = { count, state };
    return state;
  }

  #build(moment: number): Moment {
    const stop = this.#stops.findLast(({ latest }) => latest <= moment);
    const draft = draftOf(stop?.state ?? EMPTY);
    for (let index = stop?.index ?? 0; index < this.changes.length; index += 1) {
      if ((this.#earliest[index] ?? Infinity) > moment) break;
      const change = this.changes[index];
      if (change !== undefined && change.at <= moment) apply(draft, change);
    }
    return draft;
  }
}

/** The pages of a span, put together. */
export function replayOf(pages: readonly HistoryPage[]): Replay | null {
  const first = pages[0];
  if (first === undefined) return null;
  const items = pages.flatMap((page) => page.items);
  return new Replay(Date.parse(first.from), Date.parse(first.to), first.state, items);
}

/** A name as it is compared with others. */
export function compared(name: string): string {
  return name.trim().toLowerCase();
}

interface Draft extends Moment {
  readonly services: Map<string, PastService>;
  readonly dependencies: Map<string, PastDependency>;
}

const EMPTY: Moment = { services: new Map(), dependencies: new Map() };

function draftOf({ services, dependencies }: Moment): Draft {
  return { services: new Map(services), dependencies: new Map(dependencies) };
}

function time(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

function momentOf(state: WholeState | null): Moment {
  const draft = draftOf(EMPTY);
  for (const { id, name, status, status_since, stale_since } of state?.services ?? []) {
    const since = Date.parse(status_since);
    draft.services.set(id, { id, name, status, since, staleSince: time(stale_since) });
  }
  for (const one of state?.dependencies ?? []) {
    draft.dependencies.set(one.id, {
      id: one.id,
      service: one.service_id,
      name: one.canonical_name,
      key: compared(one.canonical_name),
      status: one.status,
      since: Date.parse(one.status_since),
      missingSince: time(one.missing_since),
      linked: one.linked_service_id,
      closed: one.is_closed,
    });
  }
  return draft;
}

function earliest(changes: readonly Change[]): Float64Array {
  const found = new Float64Array(changes.length);
  let least = Infinity;
  for (let index = changes.length - 1; index >= 0; index -= 1) {
    least = Math.min(least, changes[index]?.at ?? Infinity);
    found[index] = least;
  }
  return found;
}

function stops(changes: readonly Change[], start: Moment): Stop[] {
  const between = Math.max(LEAST_BETWEEN, Math.ceil(changes.length / STOPS));
  const draft = draftOf(start);
  const found: Stop[] = [{ index: 0, latest: -Infinity, state: start }];
  let latest = -Infinity;
  changes.forEach((change, index) => {
    if (index > 0 && index % between === 0) found.push({ index, latest, state: draftOf(draft) });
    apply(draft, change);
    latest = Math.max(latest, change.at);
  });
  return found;
}

/** A change of something that is not known changes nothing. */
function apply(draft: Draft, change: Change): void {
  if (change.dependency_id !== null) applyToDependency(draft, change, change.dependency_id);
  else applyToService(draft, change);
}

function applyToService({ services }: Draft, { at, kind, service_id: id, after }: Change): void {
  if (kind === 'added') {
    services.set(id, { id, name: after ?? '', status: 'unknown', since: at, staleSince: null });
    return;
  }
  const service = services.get(id);
  if (service === undefined) return;
  if (kind === 'renamed') services.set(id, { ...service, name: after ?? '' });
  else if (kind === 'service') services.set(id, { ...service, status: statusOf(after ?? ''), since: at });
  else if (kind === 'stale') services.set(id, { ...service, staleSince: after === 'stale' ? at : null });
  else if (kind === 'removed') services.delete(id);
}

function applyToDependency({ dependencies }: Draft, change: Change, id: string): void {
  const { at, kind, after, service_id: service } = change;
  if (kind === 'added') {
    const name = change.dependency_name ?? '';
    const status = statusOf(after ?? '');
    const blank = { missingSince: null, linked: null, closed: false };
    dependencies.set(id, { id, service, name, key: compared(name), status, since: at, ...blank });
    return;
  }
  const old = dependencies.get(id);
  if (old === undefined) return;
  dependencies.set(id, { ...old, ...changed(old, kind, after, at) });
}

function changed(
  old: PastDependency,
  kind: Change['kind'],
  after: string | null,
  at: number,
): Partial<PastDependency> {
  switch (kind) {
    case 'dependency':
      return { status: statusOf(after ?? ''), since: at };
    case 'missing':
      return after === 'missing' ? { missingSince: at } : { missingSince: null, closed: false };
    case 'alias':
      return { name: after ?? old.name, key: compared(after ?? old.name) };
    case 'link':
      return { linked: after };
    case 'removed':
      return { closed: true };
    default:
      return {};
  }
}
