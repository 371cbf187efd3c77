import type { Failure } from '../../lib/api/client';
import { castNet, changeNet, deleteNet, deleteWorker, forgetWorker, operate } from '../../lib/api/fleet';
import {
  asksFor,
  asksToDelete,
  asksToUnload,
  idleNets,
  isIdle,
  loadedText,
  WORDS,
  type Asks,
  type WorkerDeed,
} from '../../lib/fleet/deeds';
import type { ShownNet, ShownWorker } from '../../lib/fleet/reduce';
import { doing, placeOf } from '../../lib/fleet/words';
import { isolated } from '../../lib/isolate';
import { pause } from '../../lib/wait';
import { asking } from '../../state/ask.svelte';
import { fleet } from '../../state/fleet.svelte';
import { voice } from '../../state/voice.svelte';

/** Whoever said yes waits for the answer this long; what takes longer is followed on the page. */
const AT_ONCE_MS = 1_500;

/** Something that was not done, with what it was to be done to. */
export interface Trouble {
  readonly id: string;
  readonly name: string;
  readonly failure: Failure;
}

/** What was asked for and not done, until somebody has read it or tries again. */
class Troubles {
  all = $state.raw<readonly Trouble[]>([]);

  of(id: string): Trouble | undefined {
    return this.all.find((trouble) => trouble.id === id);
  }

  note(trouble: Trouble): void {
    this.all = [trouble, ...this.all.filter(({ id }) => id !== trouble.id)];
  }

  clear(id: string): void {
    this.all = this.all.filter((trouble) => trouble.id !== id);
  }
}

export const troubles = new Troubles();

/** The workers whose nets are being loaded one after the other. */
class Loading {
  #workers = $state.raw<ReadonlySet<string>>(new Set());

  has(worker: string): boolean {
    return this.#workers.has(worker);
  }

  async during(worker: string, act: () => Promise<void>): Promise<void> {
    this.#workers = new Set([...this.#workers, worker]);
    await act();
    this.#workers = new Set([...this.#workers].filter((id) => id !== worker));
  }
}

export const loading = new Loading();

/** Does something to a worker, after a yes where it takes something away or costs. */
export function doTo(worker: ShownWorker, deed: WorkerDeed): void {
  after(asksFor(deed, worker, fleet.netsOf(worker.id)), worker, () => actOn(worker, deed));
}

/** Begins without a question: it was just asked for. */
export function begin(worker: ShownWorker, deed: WorkerDeed): void {
  after(null, worker, () => actOn(worker, deed));
}

export function load(net: ShownNet): void {
  after(null, net, () => cast(net, 'load'));
}

/** Loads the nets that a worker does not run, one after the other, until it is lost. */
export function loadAll(worker: ShownWorker): void {
  if (loading.has(worker.id)) return;
  const asked = idleNets(worker, fleet.netsOf(worker.id)).map(({ id }) => id);
  void loading.during(worker.id, async () => {
    for (const id of asked) {
      const net = fleet.net(id);
      if (fleet.worker(worker.id)?.status !== 'ready') break;
      if (net === undefined || !isIdle(net) || net.worker_id !== worker.id) continue;
      troubles.clear(id);
      tell(net, await cast(net, 'load'));
    }
    const loaded = asked.filter((id) => fleet.net(id)?.load_state === 'loaded').length;
    voice.show(loadedText(worker, loaded, asked.length));
  });
}

export function unload(net: ShownNet): void {
  after(asksToUnload(net, fleet.worker(net.worker_id)), net, () => cast(net, 'unload'));
}

export function remove(net: ShownNet): void {
  after(asksToDelete(net, fleet.worker(net.worker_id)), net, async () => {
    const answer = await fleet.removing(net.id, () => deleteNet(net.id, net.generation));
    if (!answer.ok && answer.failure.status !== 404) return netFailed(net, answer.failure);
    fleet.dropNet(net.id);
    voice.show(`${isolated(net.name)} is deleted`);
    return null;
  });
}

const NOBODY = '';
const UNDECIDED = 'undecided';

/** Asks which worker a net is for from now on. */
export function move(net: ShownNet): void {
  const name = isolated(net.name);
  const workers = [...(fleet.workers ?? [])].sort((one, other) => one.name.localeCompare(other.name, 'en'));
  const titleOf = (worker: ShownWorker) => `${worker.name}, ${placeOf(worker)}: ${worker.status}`;
  const loaded = net.load_state === 'loaded';
  asking.ask({
    title: `Assign ${name} to another worker?`,
    text: loaded
      ? `${name} is unloaded from ${isolated(fleet.worker(net.worker_id)?.name ?? 'its worker')}; load it on the other one after that.`
      : `${name} is not loaded now; load it on the other one after that.`,
    action: 'Assign',
    danger: loaded,
    choice: {
      label: 'Worker',
      value: UNDECIDED,
      none: UNDECIDED,
      options: [
        { value: UNDECIDED, title: 'Choose a worker' },
        ...workers.map((worker) => ({ value: worker.id, title: titleOf(worker) })),
        { value: NOBODY, title: 'no worker' },
      ].filter(({ value }) => value !== (net.worker_id ?? NOBODY)),
    },
    run: async (choice) => {
      const to = choice === NOBODY ? null : choice;
      const answer = await changeNet(net.id, { worker_id: to }, net.generation);
      if (!answer.ok) return netFailed(net, answer.failure);
      fleet.putNet(answer.value);
      voice.show(to === null ? `${name} is assigned to no worker` : `${name} is for ${isolated(fleet.worker(to)?.name ?? 'it')}`);
      return null;
    },
  });
}

type Subject = Pick<ShownWorker, 'id' | 'name'>;

function after(asks: Asks | null, subject: Subject, act: () => Promise<Failure | null>): void {
  troubles.clear(subject.id);
  if (asks === null) void act().then((failure) => { tell(subject, failure); });
  else asking.ask({ ...asks, run: () => atOnce(subject, act()) });
}

/** What is refused at once is told where it was asked for; what fails later, on the page. */
async function atOnce(subject: Subject, done: Promise<Failure | null>): Promise<Failure | null> {
  const first = await Promise.race([
    done.then((failure) => ({ failure })),
    pause(AT_ONCE_MS).then(() => null),
  ]);
  if (first !== null) return first.failure;
  void done.then((failure) => { tell(subject, failure); });
  return null;
}

function tell({ id, name }: Subject, failure: Failure | null): void {
  if (failure === null) return;
  troubles.note({ id, name, failure });
  voice.say(`${isolated(name)}: ${failure.title}`);
}

async function actOn(worker: ShownWorker, deed: WorkerDeed): Promise<Failure | null> {
  if (deed === 'delete') return deleteIt(worker);
  if (deed === 'forget') return forgetIt(worker);
  const answer = await operate(worker.id, deed, worker.generation);
  if (!answer.ok) return workerFailed(worker, answer.failure);
  fleet.put(answer.value);
  voice.show(`${isolated(worker.name)} ${outcome(deed, answer.value)}`);
  return null;
}

async function deleteIt(worker: ShownWorker): Promise<Failure | null> {
  const answer = await deleteWorker(worker.id, worker.generation);
  if (!answer.ok && answer.failure.status !== 404) return workerFailed(worker, answer.failure);
  const gone = !answer.ok || answer.value;
  if (gone) fleet.dropWorker(worker.id);
  voice.show(`${isolated(worker.name)} is ${gone ? 'deleted' : `still ${doing('delete')}`}`);
  return null;
}

async function forgetIt(worker: ShownWorker): Promise<Failure | null> {
  const answer = await fleet.removing(worker.id, () => forgetWorker(worker.id, worker.generation));
  if (!answer.ok) return workerFailed(worker, answer.failure);
  fleet.dropWorker(worker.id);
  const machines = answer.value.machines.join(' and ');
  voice.show(`${isolated(worker.name)} is forgotten${machines === '' ? '' : `; end ${machines} at its provider`}`);
  return null;
}

function outcome(deed: WorkerDeed, { operation, status }: ShownWorker): string {
  if (operation !== null) return `is still ${doing(operation.kind)}`;
  if (deed === 'health-check') return `is ${status}`;
  return WORDS[deed].done;
}

async function cast(net: ShownNet, deed: 'load' | 'unload'): Promise<Failure | null> {
  const answer = await castNet(net.id, deed, net.generation);
  if (!answer.ok) return netFailed(net, answer.failure);
  fleet.putNet(answer.value);
  const { operation, load_state: state } = answer.value;
  voice.show(`${isolated(net.name)} is ${operation === null ? state : `still ${doing(operation.kind)}`}`);
  return null;
}

/** The new state is read whether an event tells of it or not. */
async function workerFailed(worker: ShownWorker, failure: Failure): Promise<Failure> {
  await fleet.readWorker(worker.id);
  void Promise.all(fleet.netsOf(worker.id).map(({ id }) => fleet.readNet(id)));
  const now = fleet.worker(worker.id);
  return failure.code === 'stale' && now !== undefined ? stale(failure, `It is ${now.status} now.`) : failure;
}

async function netFailed(net: ShownNet, failure: Failure): Promise<Failure> {
  await Promise.all([
    fleet.readNet(net.id),
    ...(net.worker_id === null ? [] : [fleet.readWorker(net.worker_id)]),
  ]);
  const now = fleet.net(net.id);
  return failure.code === 'stale' && now !== undefined ? stale(failure, `It is ${now.load_state} now.`) : failure;
}

/** What was confirmed was said of another state: it is decided anew. */
function stale(failure: Failure, now: string): Failure {
  return { ...failure, detail: `${failure.detail} ${now}` };
}
