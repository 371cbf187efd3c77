import type { LoadState, MachineProvider, Provider, WorkerStatus } from '../api/fleet';
import type { Option } from '../roles';
import type { Status } from '../status';
import type { ShownNet, ShownWorker } from './reduce';

/** The glyph and the colour of a worker; its own word stands beside it. */
const WORKER_GLYPHS: Record<WorkerStatus, Status> = {
  pending: 'skipped',
  provisioning: 'unknown',
  ready: 'healthy',
  stopped: 'skipped',
  error: 'down',
};
const NET_GLYPHS: Record<LoadState, Status> = { unloaded: 'skipped', loaded: 'healthy', error: 'down' };

/** What is being done, as it is said while it goes on. */
const DOING: Record<string, string> = {
  provision: 'being made',
  retry: 'being made anew',
  start: 'starting',
  stop: 'stopping',
  destroy: 'being destroyed',
  delete: 'being deleted',
  health_check: 'being looked at',
  load: 'loading',
  unload: 'unloading',
};

export const PROVIDER_NAMES: Record<Provider, string> = {
  process: 'this host',
  fly: 'Fly',
  sprite: 'Sprites',
};

const PROVIDER_TITLES: readonly (readonly [Provider, string])[] = [
  ['process', 'this host: a process beside Mainstay'],
  ['fly', 'Fly: a machine'],
  ['sprite', 'Sprites: a sprite'],
];

export const glyphOf = ({ status }: Pick<ShownWorker, 'status'>): Status => WORKER_GLYPHS[status];
export const netGlyph = ({ load_state: state }: { load_state: LoadState }): Status => NET_GLYPHS[state];

/** Where a machine can come from: what is not set up says what it needs. All of them until that is known. */
export function providerOptions(known: readonly MachineProvider[]): Option[] {
  return PROVIDER_TITLES.map(([value, title]) => {
    const missing = known.find(({ provider, is_set_up: is }) => provider === value && !is);
    if (missing === undefined) return { value, title };
    return { value, title: `${title} (not set up: needs ${missing.settings})`, off: true };
  });
}

/** A provider that does not do what it is asked for. */
export interface Outage {
  readonly provider: Provider;
  readonly title: string;
  readonly detail: string;
  readonly since: string;
  readonly asked: string;
}

const OUTAGES: Record<string, string> = {
  denied: 'refuses our token',
  invalid: 'refuses what it is set up with',
};

/** The providers that are in trouble, each with what is wrong in a few words. */
export function outagesOf(known: readonly MachineProvider[]): Outage[] {
  return known.flatMap(({ provider, trouble }) => {
    if (trouble === null) return [];
    const title = `${PROVIDER_NAMES[provider]} ${OUTAGES[trouble.code] ?? "can't be reached"}`;
    return [{ provider, title, detail: trouble.detail, since: trouble.since, asked: trouble.asked_at }];
  });
}

export function doing(kind: string): string {
  return DOING[kind] ?? kind;
}

/** What is done to it beside its state, where that does not say it already. */
export function doingTo({ status, operation }: Pick<ShownWorker, 'status' | 'operation'>): string | null {
  if (operation === null) return null;
  const said = status === 'provisioning' && (operation.kind === 'provision' || operation.kind === 'retry');
  return said ? null : doing(operation.kind);
}

type Placed = Pick<ShownWorker, 'region' | 'machine_region' | 'provider'>;

/** Where workers should stand: those without a region are of this host, or anywhere. */
export function orderedPlaceOf({ region, provider }: Omit<Placed, 'machine_region'>): string {
  return region ?? (provider === 'process' ? 'this host' : 'anywhere');
}

/** Where workers stand, as their provider says, or where they should. */
export function placeOf(worker: Placed): string {
  return worker.machine_region ?? orderedPlaceOf(worker);
}

/** The same, with where a worker should stand where that is another place. */
export function placeText(worker: Placed): string {
  const { region, machine_region: real } = worker;
  const is = region === null || real === null || region === real;
  return is ? placeOf(worker) : `${real}, although ${region} was asked for`;
}

/** How big a machine was ordered, where there is anything to choose, and whether it outlives being stopped. */
export function machineText({ provider, size, category }: Pick<ShownWorker, 'provider' | 'size' | 'category'>): string {
  return provider === 'fly' ? `${size}, ${category}` : category;
}

/** Fly, started: who provides it, and that one's own word for it. */
export function providedText({ provider, provider_state: state }: Pick<ShownWorker, 'provider' | 'provider_state'>): string {
  return state === null ? PROVIDER_NAMES[provider] : `${PROVIDER_NAMES[provider]}, ${state}`;
}

export interface Group {
  readonly place: string;
  readonly workers: readonly ShownWorker[];
}

/** Those that need somebody first. */
const WEIGHT: Record<WorkerStatus, number> = { error: 0, provisioning: 1, pending: 2, stopped: 2, ready: 3 };

/** Workers by where they stand: places by name, and in each those in error first. */
export function byPlace(workers: Iterable<ShownWorker>): Group[] {
  const places = new Map<string, ShownWorker[]>();
  for (const worker of workers) {
    const place = placeOf(worker);
    const here = places.get(place);
    if (here === undefined) places.set(place, [worker]);
    else here.push(worker);
  }
  return [...places]
    .sort(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([place, here]) => ({ place, workers: here.sort(byNeed) }));
}

function byNeed(one: ShownWorker, other: ShownWorker): number {
  return WEIGHT[one.status] - WEIGHT[other.status] || one.name.localeCompare(other.name, 'en', { numeric: true });
}

/** The workers whose machines are lost or broken, the longest first. */
export function lostOf(workers: readonly ShownWorker[]): ShownWorker[] {
  return workers
    .filter(({ status }) => status === 'error')
    .sort((one, other) => Date.parse(one.status_since) - Date.parse(other.status_since));
}

/** The nets of each worker. */
export function byWorker(nets: Iterable<ShownNet>): ReadonlyMap<string, readonly ShownNet[]> {
  const groups = new Map<string, ShownNet[]>();
  for (const net of nets) {
    if (net.worker_id === null) continue;
    const group = groups.get(net.worker_id);
    if (group === undefined) groups.set(net.worker_id, [net]);
    else group.push(net);
  }
  return groups;
}

/** "3 workers, 1 in error" */
export function groupText({ workers }: Group): string {
  const failed = workers.filter(({ status }) => status === 'error').length;
  const all = workers.length === 1 ? '1 worker' : `${String(workers.length)} workers`;
  return failed === 0 ? all : `${all}, ${String(failed)} in error`;
}

/** How far what is under way has come, by its time; null where its end is not known. */
export function timeShare({ operation }: Pick<ShownWorker, 'operation'>, now: number): number | null {
  const deadline = operation?.deadline ?? null;
  if (operation === null || deadline === null) return null;
  const [from, to] = [Date.parse(operation.since), Date.parse(deadline)];
  if (!(to > from)) return null;
  return Math.min(Math.max((now - from) / (to - from), 0), 1);
}

export interface Step {
  readonly title: string;
  readonly state: 'done' | 'now' | 'ahead';
}

/** The way of a machine that is being made. */
export function stepsOf(worker: Pick<ShownWorker, 'operation' | 'url' | 'provider'>): readonly Step[] {
  const kind = worker.operation?.kind;
  if (kind !== 'provision' && kind !== 'retry' && kind !== 'start') return [];
  const made = worker.url !== null;
  const asks = kind === 'start' ? 'Ask for the start' : `Order a machine from ${PROVIDER_NAMES[worker.provider]}`;
  return [
    { title: asks, state: made ? 'done' : 'now' },
    { title: 'Wait until its agent answers', state: made ? 'now' : 'ahead' },
    { title: 'Ready to take nets', state: 'ahead' },
  ];
}

/** The checks of a net, as far as its definition can be read. */
export function checksOf({ definition }: Pick<ShownNet, 'definition'>): { services: string[]; journeys: number } {
  const services = Array.isArray(definition['services']) ? (definition['services'] as unknown[]) : [];
  const journeys = Array.isArray(definition['journeys']) ? definition['journeys'].length : 0;
  return { services: services.map(nameOf), journeys };
}

function nameOf(service: unknown): string {
  if (typeof service === 'string') return service;
  const name = (service as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : 'unnamed';
}

/** "2 services, 1 journey" */
export function checksText(net: Pick<ShownNet, 'definition'>): string {
  const { services, journeys } = checksOf(net);
  const parts = [
    services.length === 1 ? '1 service' : `${String(services.length)} services`,
    ...(journeys === 0 ? [] : [journeys === 1 ? '1 journey' : `${String(journeys)} journeys`]),
  ];
  return parts.join(', ');
}
