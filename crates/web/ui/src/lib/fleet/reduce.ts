import type { LoadState, Net, Worker, WorkerStatus } from '../api/fleet';
import type { LiveEvent } from '../live/messages';

/** What is being done to something, as far as it is known: an event says no more than what. */
export interface Underway {
  readonly kind: string;
  readonly since: string;
  readonly deadline: string | null;
}

export type ShownWorker = Readonly<Omit<Worker, 'operation'>> & { readonly operation: Underway | null };
export type ShownNet = Readonly<Omit<Net, 'operation'>> & { readonly operation: Underway | null };

export interface FleetState {
  readonly workers: ReadonlyMap<string, ShownWorker>;
  readonly nets: ReadonlyMap<string, ShownNet>;
}

/** What to read again: an event tells where something stands, and not why. */
export interface Unread {
  readonly workers: readonly string[];
  readonly nets: readonly string[];
}

export interface Heard {
  readonly state: FleetState;
  readonly unread: Unread;
}

export const FLEET_EVENTS = [
  'worker_state_changed',
  'net_state_changed',
  'worker_removed',
  'net_removed',
] as const;
export const MASS_FAILURE = 'fleet_mass_failure';
export const MASS_FAILURE_OVER = 'fleet_mass_failure_over';

export const EMPTY: FleetState = { workers: new Map(), nets: new Map() };

const WORKER_STATUSES: readonly WorkerStatus[] = ['pending', 'provisioning', 'ready', 'stopped', 'error'];
const LOAD_STATES: readonly LoadState[] = ['unloaded', 'loaded', 'error'];
const NOTHING: Unread = { workers: [], nets: [] };

/** The fleet after an event. One that is older than what is known says nothing. */
export function heard(state: FleetState, event: LiveEvent): Heard {
  switch (event.type) {
    case 'worker_state_changed':
      return workerMoved(state, event);
    case 'net_state_changed':
      return netMoved(state, event);
    case 'worker_removed':
      return workerGone(state, text(event, 'worker_id'));
    case 'net_removed':
      return { state: { ...state, nets: without(state.nets, text(event, 'net_id')) }, unread: NOTHING };
    default:
      return { state, unread: NOTHING };
  }
}

/** What was read, but for what is older than what was heard meanwhile, and what was removed meanwhile. */
export function readAnew<Item extends Known>(
  before: ReadonlyMap<string, Item>,
  came: readonly Item[],
  removed: ReadonlySet<string>,
): ReadonlyMap<string, Item> {
  const fresh = came.filter(({ id }) => !removed.has(id));
  return new Map(fresh.map((item) => [item.id, newer(before.get(item.id), item)]));
}

/** One item that was read. */
export function withRead<Item extends Known>(
  before: ReadonlyMap<string, Item>,
  item: Item,
): ReadonlyMap<string, Item> {
  return new Map(before).set(item.id, newer(before.get(item.id), item));
}

export function without<Item>(before: ReadonlyMap<string, Item>, id: string): ReadonlyMap<string, Item> {
  if (!before.has(id)) return before;
  const after = new Map(before);
  after.delete(id);
  return after;
}

interface Known {
  readonly id: string;
  readonly generation: number;
}

function newer<Item extends Known>(old: Item | undefined, item: Item): Item {
  return old !== undefined && old.generation > item.generation ? old : item;
}

function workerMoved(state: FleetState, event: LiveEvent): Heard {
  const id = text(event, 'worker_id');
  const status = WORKER_STATUSES.find((known) => known === event['status']);
  const old = state.workers.get(id);
  const told = { state, unread: { workers: id === '' ? [] : [id], nets: [] } };
  if (old === undefined || status === undefined) return told;
  const generation = number(event, 'generation');
  if (generation <= old.generation) return { state, unread: NOTHING };
  const moves = status !== old.status;
  const worker: ShownWorker = {
    ...old,
    status,
    generation,
    status_since: moves ? event.at : old.status_since,
    reason: moves ? null : old.reason,
    operation: underway(event, old.operation),
  };
  return { ...told, state: { ...state, workers: new Map(state.workers).set(id, worker) } };
}

function netMoved(state: FleetState, event: LiveEvent): Heard {
  const id = text(event, 'net_id');
  const load = LOAD_STATES.find((known) => known === event['load_state']);
  const old = state.nets.get(id);
  const told = { state, unread: { workers: [], nets: id === '' ? [] : [id] } };
  if (old === undefined || load === undefined) return told;
  const generation = number(event, 'generation');
  if (generation <= old.generation) return { state, unread: NOTHING };
  const moves = load !== old.load_state;
  const net: ShownNet = {
    ...old,
    load_state: load,
    generation,
    worker_id: text(event, 'worker_id') || null,
    load_state_since: moves ? event.at : old.load_state_since,
    reason: moves ? null : old.reason,
    operation: underway(event, old.operation),
  };
  return { ...told, state: { ...state, nets: new Map(state.nets).set(id, net) } };
}

/** Its nets stay, assigned to nobody: their own events come with it, and are of more weight. */
function workerGone(state: FleetState, id: string): Heard {
  const left = [...state.nets.values()].filter((net) => net.worker_id === id).map((net) => net.id);
  return {
    state: { ...state, workers: without(state.workers, id) },
    unread: { workers: [], nets: left },
  };
}

function underway(event: LiveEvent, old: Underway | null): Underway | null {
  const kind = text(event, 'operation');
  if (kind === '') return null;
  return old?.kind === kind ? old : { kind, since: event.at, deadline: null };
}

function text(event: LiveEvent, name: string): string {
  const value = event[name];
  return typeof value === 'string' ? value : '';
}

function number(event: LiveEvent, name: string): number {
  const value = event[name];
  return typeof value === 'number' ? value : 0;
}
