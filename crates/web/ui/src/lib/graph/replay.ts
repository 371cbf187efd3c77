import type { HistoryItem, WholeState } from '../api/graph';
import { compared } from '../names';
import { statusOf, type Status } from '../status';

/** A service as it was. */
export interface PastService {
  readonly id: string;
  readonly name: string;
  /** The name as it is compared. */
  readonly key: string;
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

export interface Change extends Omit<HistoryItem, 'at'> {
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

/**
 * A span of the past to go to and fro in: any moment of it at the price of a few changes. It grows at its
 * end by what is new alone, and forgets its beginning.
 */
export class Replay {
  #from: number;
  #to: number;
  readonly #changes: Change[] = [];
  readonly #ids = new Set<string>();
  /** The times of all changes, in the order of time. */
  #times: number[] = [];
  /** The earliest time among the changes from each place on. */
  readonly #earliest: number[] = [];
  #stops: Stop[];
  /** How many changes lie between two stops. */
  #between = LEAST_BETWEEN;
  /** The state after all changes, and the time by which they all had happened. */
  readonly #end: Draft;
  #latest = -Infinity;
  #last: { count: number; state: Moment } | null = null;

  constructor(from: number, to: number, state: WholeState | null, items: readonly HistoryItem[]) {
    this.#from = from;
    this.#to = to;
    const start = momentOf(state);
    this.#end = draftOf(start);
    this.#stops = [{ index: 0, latest: -Infinity, state: start }];
    this.extend(to, items);
  }

  get from(): number {
    return this.#from;
  }

  get to(): number {
    return this.#to;
  }

  /** How everything was before all changes that are kept. */
  get start(): Moment {
    return this.#stops[0]?.state ?? EMPTY;
  }

  /** How everything is at its end. */
  get end(): Moment {
    return this.#end;
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** What happened until a later end; what is known already is not taken twice. */
  extend(to: number, items: readonly HistoryItem[]): void {
    this.#to = Math.max(this.#to, to);
    for (const item of items) {
      if (this.#ids.has(item.id)) continue;
      this.#ids.add(item.id);
      this.#add({ ...item, at: Date.parse(item.at) });
    }
  }

  /** Forgets what happened before a time, and of more than `most` changes the oldest: a stop at a time. */
  trim(before: number, most: number): void {
    const isOver = (index: number) => this.#changes.length - index >= most;
    const place = this.#stops.findLastIndex(({ index, latest }) => latest <= before || isOver(index));
    const stop = this.#stops[place];
    if (stop === undefined || stop.index === 0) return;
    for (const { id } of this.#changes.splice(0, stop.index)) this.#ids.delete(id);
    this.#earliest.splice(0, stop.index);
    this.#times = inOrder(this.#changes);
    this.#from = Math.max(this.#from, stop.latest);
    this.#stops = this.#stops.slice(place).map((one) => ({ ...one, index: one.index - stop.index }));
    this.#last = null;
  }

  /** How many changes had happened by then. The same number means the same state. */
  countAt(moment: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] ?? Infinity) <= moment) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Between which two changes a moment lies: nothing changed in between. */
  stillAt(moment: number): { readonly from: number; readonly to: number } {
    const count = this.countAt(moment);
    return { from: this.#times[count - 1] ?? this.#from, to: this.#times[count] ?? Infinity };
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
    const stop = this.#stops.findLast(({ latest }) => latest <= moment) ?? this.#stops[0];
    const draft = draftOf(stop?.state ?? EMPTY);
    for (let index = stop?.index ?? 0; index < this.#changes.length; index += 1) {
      if ((this.#earliest[index] ?? Infinity) > moment) break;
      const change = this.#changes[index];
      if (change !== undefined && change.at <= moment) apply(draft, change);
    }
    return draft;
  }

  #add(change: Change): void {
    const index = this.#changes.length;
    if (index - (this.#stops.at(-1)?.index ?? 0) >= this.#between) {
      this.#stops.push({ index, latest: this.#latest, state: draftOf(this.#end) });
      if (this.#stops.length > STOPS) this.#thin();
    }
    this.#changes.push(change);
    apply(this.#end, change);
    this.#latest = Math.max(this.#latest, change.at);
    this.#times.splice(this.countAt(change.at), 0, change.at);
    this.#earliest.push(change.at);
    // Few come late, so few places are gone back.
    for (let at = index - 1; at >= 0 && (this.#earliest[at] ?? -Infinity) > change.at; at -= 1) {
      this.#earliest[at] = change.at;
    }
  }

  /** Every other stop goes, never the first. */
  #thin(): void {
    this.#stops = this.#stops.filter((_, place) => place % 2 === 0);
    this.#between *= 2;
  }
}

/** A state that changes are applied to. */
export interface Draft extends Moment {
  readonly services: Map<string, PastService>;
  readonly dependencies: Map<string, PastDependency>;
}

const EMPTY: Moment = { services: new Map(), dependencies: new Map() };

export function draftOf({ services, dependencies }: Moment): Draft {
  return { services: new Map(services), dependencies: new Map(dependencies) };
}

function time(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

function momentOf(state: WholeState | null): Moment {
  const draft = draftOf(EMPTY);
  for (const { id, name, status, status_since, stale_since } of state?.services ?? []) {
    const since = Date.parse(status_since);
    draft.services.set(id, { id, name, key: compared(name), status, since, staleSince: time(stale_since) });
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

function inOrder(changes: readonly Change[]): number[] {
  return changes.map(({ at }) => at).sort((one, other) => one - other);
}

/** A change of something that is not known changes nothing. */
export function apply(draft: Draft, change: Change): void {
  if (change.dependency_id !== null) applyToDependency(draft, change, change.dependency_id);
  else applyToService(draft, change);
}

function applyToService({ services }: Draft, { at, kind, service_id: id, after }: Change): void {
  if (kind === 'added') {
    services.set(id, { id, ...named(after), status: 'unknown', since: at, staleSince: null });
    return;
  }
  const service = services.get(id);
  if (service === undefined) return;
  if (kind === 'renamed') services.set(id, { ...service, ...named(after) });
  else if (kind === 'service') services.set(id, { ...service, status: statusOf(after ?? ''), since: at });
  else if (kind === 'stale') services.set(id, { ...service, staleSince: after === 'stale' ? at : null });
  else if (kind === 'removed') services.delete(id);
}

function named(name: string | null): Pick<PastService, 'name' | 'key'> {
  return { name: name ?? '', key: compared(name ?? '') };
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
