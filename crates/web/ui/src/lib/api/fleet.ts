import type { Slice } from './accounts';
import { change, MACHINE_TIMEOUT_MS, read, remove, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Worker = Schemas['Worker'];
export type WorkerStatus = Worker['status'];
export type Provider = Worker['provider'];
export type Net = Schemas['Net'];
export type LoadState = Net['load_state'];
export type NewWorker = Schemas['NewWorker'];
export type NewNet = Schemas['NewNet'];
export type NetChange = Schemas['NetChange'];
export type MachineProvider = Schemas['MachineProvider'];
export type Doubt = Schemas['FleetDoubt'];
export type Forgotten = Schemas['ForgottenWorker'];

/** What is done to a worker, as the server's addresses name it. */
export type Deed = 'provision' | 'start' | 'stop' | 'destroy' | 'health-check' | 'retry';

const WORKERS = '/api/workers';
const NETS = '/api/nets';

const workerPath = (id: string) => `${WORKERS}/${encodeURIComponent(id)}`;
const netPath = (id: string) => `${NETS}/${encodeURIComponent(id)}`;
const waits = (match: number) => ({ match, limit: MACHINE_TIMEOUT_MS });

export function readWorkers(cursor: string | null): Promise<Answer<Slice<Worker>>> {
  return read(listPath(WORKERS, { cursor }), isSlice<Worker>);
}

export function readWorker(id: string): Promise<Answer<Worker>> {
  return read(workerPath(id), isWorker);
}

/** Where machines can come from, and which of them are set up. */
export function readProviders(): Promise<Answer<Slice<MachineProvider>>> {
  return read(`${WORKERS}/providers`, isSlice<MachineProvider>);
}

/** That most workers fail at once, while nothing is done about it yet. */
export function readMassFailure(): Promise<Answer<Doubt>> {
  return read(`${WORKERS}/mass-failure`, isDoubt);
}

export function createWorker(wanted: NewWorker): Promise<Answer<Worker>> {
  return write('POST', WORKERS, wanted, isWorker);
}

/** Begins something, and waits a while for its end. */
export function operate(id: string, deed: Deed, generation: number): Promise<Answer<Worker>> {
  return write('POST', `${workerPath(id)}/${deed}`, undefined, isWorker, waits(generation));
}

/** Says whether it is gone, or still on its way out. */
export function deleteWorker(id: string, generation: number): Promise<Answer<boolean>> {
  return remove(workerPath(id), waits(generation));
}

/** Removes a worker whose provider is not set up any more; says which machines are left behind. */
export function forgetWorker(id: string, generation: number): Promise<Answer<Forgotten>> {
  return write('DELETE', `${workerPath(id)}?forget=true`, undefined, isForgotten, { match: generation });
}

export function readNets(cursor: string | null): Promise<Answer<Slice<Net>>> {
  return read(listPath(NETS, { cursor }), isSlice<Net>);
}

export function readNet(id: string): Promise<Answer<Net>> {
  return read(netPath(id), isNet);
}

export function createNet(wanted: NewNet): Promise<Answer<Net>> {
  return write('POST', NETS, wanted, isNet);
}

export function changeNet(id: string, to: NetChange, generation: number): Promise<Answer<Net>> {
  return write('PATCH', netPath(id), to, isNet, { match: generation });
}

export function castNet(id: string, deed: 'load' | 'unload', generation: number): Promise<Answer<Net>> {
  return write('POST', `${netPath(id)}/${deed}`, undefined, isNet, waits(generation));
}

export function deleteNet(id: string, generation: number): Promise<Answer<null>> {
  return change('DELETE', netPath(id), undefined, { match: generation });
}

function isWorker(body: Body): body is Body & Worker {
  return typeof body['id'] === 'string' && Array.isArray(body['nets']);
}

function isDoubt(body: Body): body is Body & Doubt {
  return typeof body['mass_failure'] === 'object';
}

function isForgotten(body: Body): body is Body & Forgotten {
  return Array.isArray(body['machines']);
}

function isNet(body: Body): body is Body & Net {
  return typeof body['id'] === 'string' && typeof body['load_state'] === 'string';
}
