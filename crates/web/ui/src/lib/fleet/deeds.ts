import type { Deed } from '../api/fleet';
import { isolated } from '../isolate';
import type { ShownNet, ShownWorker } from './reduce';
import { orderedPlaceOf, PROVIDER_NAMES } from './words';

/** All that can be done to a worker. */
export type WorkerDeed = Deed | 'delete' | 'forget';

export interface Words {
  readonly button: string;
  readonly done: string;
}

export const WORDS: Record<WorkerDeed, Words> = {
  provision: { button: 'Provision', done: 'is ready' },
  start: { button: 'Start', done: 'is ready' },
  stop: { button: 'Stop', done: 'is stopped' },
  retry: { button: 'Retry', done: 'is ready' },
  'health-check': { button: 'Check', done: 'was looked at' },
  destroy: { button: 'Destroy', done: 'has no machine any more' },
  delete: { button: 'Delete', done: 'is deleted' },
  forget: { button: 'Forget', done: 'is forgotten' },
};

/** What can be done to a worker where it stands; the first is what is most likely wanted. */
export function deedsFor(worker: ShownWorker): WorkerDeed[] {
  const { operation } = worker;
  // What makes a machine can be called off; anything else is waited for.
  if (operation !== null) return makesMachine(operation.kind) ? ['destroy', 'delete'] : [];
  return nobodyEnds(worker) ? [...deedsAt(worker), 'forget'] : deedsAt(worker);
}

/** A delete has found that its provider is not set up any more. */
function nobodyEnds({ last_operation: last }: ShownWorker): boolean {
  return last?.kind === 'delete' && last.code === 'provider_not_configured';
}

function deedsAt({ status, category }: ShownWorker): WorkerDeed[] {
  switch (status) {
    case 'pending':
      return ['provision', 'delete'];
    case 'provisioning':
      return ['destroy', 'delete'];
    case 'ready':
      return ['health-check', ...(category === 'persistent' ? (['stop'] as const) : []), 'destroy', 'delete'];
    case 'stopped':
      return ['start', 'health-check', 'destroy', 'delete'];
    case 'error':
      // Also without an address: a machine may be there that nobody has written down.
      return ['retry', 'health-check', 'destroy', 'delete'];
  }
}

const makesMachine = (kind: string) => kind === 'provision' || kind === 'retry';

/** As many as fit beside a row. What ends something for good is not among them. */
const IN_ROW = 2;

/** What stands beside a row; that its nets can be loaded takes the place of all else. */
export function deedsInRow(worker: ShownWorker, loads: boolean): WorkerDeed[] {
  if (loads) return [];
  const ending: readonly WorkerDeed[] = ['destroy', 'delete', 'forget'];
  return deedsFor(worker).filter((deed) => !ending.includes(deed)).slice(0, IN_ROW);
}

/** The nets that a worker could run and does not: a machine that comes back has none of its own. */
export function idleNets({ status, operation }: ShownWorker, nets: readonly ShownNet[]): readonly ShownNet[] {
  return status === 'ready' && operation === null ? nets.filter(isIdle) : [];
}

export function isIdle({ load_state: state, operation }: ShownNet): boolean {
  return state !== 'loaded' && operation === null;
}

/** "Load its 3 nets" */
export function loadText(idle: number): string {
  return idle === 1 ? 'Load its net' : `Load its ${String(idle)} nets`;
}

/** "2 of 3 nets of fra-1 are loaded" */
export function loadedText({ name }: Pick<ShownWorker, 'name'>, loaded: number, asked: number): string {
  const of = isolated(name);
  if (asked === 1) return `The net of ${of} is ${loaded === 1 ? 'loaded' : 'not loaded'}`;
  const count = loaded === asked ? `All ${String(asked)}` : `${String(loaded)} of ${String(asked)}`;
  return `${count} nets of ${of} are loaded`;
}

export interface Asks {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly danger: boolean;
}

/** What is asked before it is done; null where it takes nothing away and costs nothing. */
export function asksFor(deed: WorkerDeed, worker: ShownWorker, nets: readonly ShownNet[]): Asks | null {
  const name = isolated(worker.name);
  const from = PROVIDER_NAMES[worker.provider];
  switch (deed) {
    case 'health-check':
    case 'start':
      return null;
    case 'provision':
      return {
        title: `Provision ${name}?`,
        text: `A ${worker.size} machine is made by ${from} for ${orderedPlaceOf(worker)}, which may cost. No net is unloaded.`,
        action: 'Make the machine',
        danger: false,
      };
    case 'retry':
      return {
        title: `Make another machine for ${name}?`,
        text: `What is left of the old one is destroyed, and ${from} makes a new one. ${unloads(nets)} Its nets are loaded again by hand.`,
        action: 'Make another machine',
        danger: false,
      };
    case 'stop':
      return { title: `Stop ${name}?`, text: `Its machine stops and is kept. ${unloads(nets)}`, action: 'Stop the worker', danger: true };
    case 'destroy':
      return {
        title: `Destroy the machine of ${name}?`,
        text: `${ends(worker)} The worker stays and can be provisioned anew. ${unloads(nets)}`,
        action: 'Destroy the machine',
        danger: true,
      };
    case 'delete':
      return {
        title: `Delete ${name}?`,
        text: `${ends(worker)} The worker is removed. ${unloads(nets)} ${left(nets)}`.trim(),
        action: 'Delete worker and machine',
        danger: true,
      };
    case 'forget':
      return {
        title: `Forget ${name}?`,
        text: `The worker is removed, and its machine is left behind at ${from}, where it may run and cost until somebody ends it. ${left(nets)}`.trim(),
        action: 'Forget the worker',
        danger: true,
      };
  }
}

export function asksToUnload(net: ShownNet, worker: ShownWorker | undefined): Asks {
  const name = isolated(net.name);
  return {
    title: `Unload ${name}?`,
    text: `${name} is no longer watched from ${worker === undefined ? 'its worker' : isolated(worker.name)}. It stays assigned, and can be loaded again.`,
    action: 'Unload the net',
    danger: true,
  };
}

export function asksToDelete(net: ShownNet, worker: ShownWorker | undefined): Asks {
  const name = isolated(net.name);
  const runs = net.load_state === 'loaded' && worker !== undefined;
  return {
    title: `Delete ${name}?`,
    text: `${runs ? `${name} is unloaded from ${isolated(worker.name)}, and its` : 'Its'} definition is removed for good.`,
    action: 'Delete the net',
    danger: true,
  };
}

/** What a change of a net takes away; null where it takes nothing. */
export function changeUnloads(
  net: ShownNet | null,
  to: { readonly definition: string; readonly worker_id: string | null },
): boolean {
  if (net === null || net.load_state !== 'loaded') return false;
  return to.worker_id !== net.worker_id || to.definition !== JSON.stringify(net.definition);
}

/** How many are named; the rest is counted. */
const NAMED = 8;

/** "2 nets are unloaded: checkout and edge." */
export function unloads(nets: readonly ShownNet[]): string {
  const loaded = nets.filter(({ load_state: state }) => state === 'loaded').map(({ name }) => isolated(name));
  if (loaded.length === 0) return 'No net is loaded on it.';
  const names = listed(loaded);
  return loaded.length === 1 ? `One net is unloaded: ${names}.` : `${String(loaded.length)} nets are unloaded: ${names}.`;
}

function ends({ operation }: ShownWorker): string {
  const making = operation !== null && makesMachine(operation.kind);
  return making ? 'The machine that is being made is called off.' : 'Its machine ends for good.';
}

function left(nets: readonly ShownNet[]): string {
  if (nets.length === 0) return '';
  return nets.length === 1 ? 'The net stays, assigned to no worker.' : 'The nets stay, assigned to no worker.';
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMED);
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${String(more)} more`;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}
