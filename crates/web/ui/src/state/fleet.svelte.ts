import type { Failure } from '../lib/api/client';
import { readMassFailure, readNet, readNets, readWorker, readWorkers } from '../lib/api/fleet';
import { readAll } from '../lib/api/list';
import {
  EMPTY,
  FLEET_EVENTS,
  heard,
  MASS_FAILURE,
  MASS_FAILURE_OVER,
  readAnew,
  withRead,
  without,
  type FleetState,
  type ShownNet,
  type ShownWorker,
} from '../lib/fleet/reduce';
import { byWorker } from '../lib/fleet/words';
import type { LiveEvent } from '../lib/live/messages';
import { calmly } from './calmly';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { together } from './together';

/** Lists are read rarely: the server takes so many pages in a minute, and events tell what changes. */
const PAUSE_MS = 10_000;
/** Where more have changed, all of them are read at once. */
const SINGLE_READS = 20;

/** That most workers fail at once, which nothing is done about yet. */
export interface Alert {
  readonly asked: number;
  readonly failed: number;
  readonly since: string;
}

/** The own workers and nets, as they are now. All who use it share one reading. */
class Fleet {
  #state = $state.raw<FleetState>(EMPTY);
  /** Whether all was read once. */
  known = $state(false);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  #alert = $state.raw<Alert | null>(null);
  /** Until it is over: another one is another matter. */
  #putAway = $state(false);
  readonly workers = $derived(this.known ? [...this.#state.workers.values()] : null);
  readonly nets = $derived(this.known ? [...this.#state.nets.values()] : null);
  readonly alert = $derived(this.#putAway ? null : this.#alert);
  readonly #netsOf = $derived(byWorker(this.#state.nets.values()));
  /** What was removed while something was on its way. */
  readonly #removed = new Set<string>();
  /** What is being removed: nobody asks how it is meanwhile. */
  readonly #leaving = new Set<string>();
  readonly #unread = { workers: new Set<string>(), nets: new Set<string>() };
  #turn = 0;
  #doubt = 0;
  #soonLists = calmly(() => this.read(), PAUSE_MS);
  #soonItems = calmly(() => this.#readItems());

  worker(id: string | null): ShownWorker | undefined {
    return id === null ? undefined : this.#state.workers.get(id);
  }

  net(id: string | null): ShownNet | undefined {
    return id === null ? undefined : this.#state.nets.get(id);
  }

  netsOf(worker: string): readonly ShownNet[] {
    return this.#netsOf.get(worker) ?? [];
  }

  /** Keeps it true until the returned function is called. */
  readonly use = together(() => this.#follow());

  /** Says whether all was read. Of two reads that are under way the later one counts. */
  async read(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    this.#removed.clear();
    const [workers, nets] = await Promise.all([readAll(readWorkers), readAll(readNets)]);
    if (turn !== this.#turn) return true;
    this.reading = false;
    const failure = [workers, nets].find((answer) => !answer.ok);
    this.failure = failure?.ok === false ? failure.failure : null;
    if (!workers.ok || !nets.ok) return false;
    this.#state = {
      workers: readAnew(this.#state.workers, workers.value, this.#removed),
      nets: readAnew(this.#state.nets, nets.value, this.#removed),
    };
    this.known = true;
    return true;
  }

  /** Does not show that most workers fail any more, until they do the next time. */
  putAlertAway(): void {
    this.#putAway = true;
  }

  /** Reads all again, as soon as the server likes it. */
  readSoon(): void {
    this.#soonLists.ask();
  }

  /** One worker and its nets, read again: also where no event tells what changed. */
  async readWorker(id: string): Promise<void> {
    const answer = await readWorker(id);
    if (answer.ok) this.#take(id, () => { this.put(answer.value); });
    else if (answer.failure.status === 404) this.dropWorker(id);
  }

  async readNet(id: string): Promise<void> {
    const answer = await readNet(id);
    if (answer.ok) this.#take(id, () => { this.putNet(answer.value); });
    else if (answer.failure.status === 404) this.dropNet(id);
  }

  /** The server's answer to a change takes the old one's place. */
  put(worker: ShownWorker): void {
    this.#state = { ...this.#state, workers: withRead(this.#state.workers, worker) };
  }

  putNet(net: ShownNet): void {
    this.#state = { ...this.#state, nets: withRead(this.#state.nets, net) };
  }

  dropWorker(id: string): void {
    this.#removed.add(id);
    this.#state = { ...this.#state, workers: without(this.#state.workers, id) };
  }

  dropNet(id: string): void {
    this.#removed.add(id);
    this.#state = { ...this.#state, nets: without(this.#state.nets, id) };
  }

  /** Has the server remove something; until it has answered, no event has it read again. */
  async removing<Answered>(id: string, remove: () => Promise<Answered>): Promise<Answered> {
    this.#leaving.add(id);
    try {
      return await remove();
    } finally {
      this.#leaving.delete(id);
    }
  }

  /** What was read, unless it was removed while the answer was on its way. */
  #take(id: string, put: () => void): void {
    if (!this.#removed.has(id)) put();
  }

  #follow(): () => void {
    this.#soonLists = calmly(() => this.read(), PAUSE_MS);
    this.#soonItems = calmly(() => this.#readItems());
    const ask = () => {
      this.readSoon();
      void this.#readAlert();
    };
    const stops = [
      stream.on(FLEET_EVENTS, (event) => {
        this.#hear(event);
      }),
      stream.on([MASS_FAILURE], ({ asked, failed, at }) => {
        this.#doubts({ asked: Number(asked), failed: Number(failed), since: at });
      }),
      stream.on([MASS_FAILURE_OVER], () => {
        this.#doubts(null);
      }),
      stream.onReload(ask),
      onReturn(ask),
      onReadAgain(ask),
    ];
    void this.#readAlert();
    void this.read().then((read) => {
      if (!read) ask();
    });
    return () => {
      this.#soonLists.stop();
      this.#soonItems.stop();
      this.#turn += 1;
      this.#doubt += 1;
      this.reading = false;
      for (const stop of stops) stop();
    };
  }

  /** What is told while it is read is newer. */
  async #readAlert(): Promise<void> {
    const turn = (this.#doubt += 1);
    const answer = await readMassFailure();
    if (answer.ok && turn === this.#doubt) this.#doubts(answer.value.mass_failure);
  }

  #doubts(alert: Alert | null): void {
    this.#doubt += 1;
    this.#alert = alert;
    if (alert === null) this.#putAway = false;
  }

  #hear(event: LiveEvent): void {
    if (event.type.endsWith('_removed')) {
      const id = event['worker_id'] ?? event['net_id'];
      if (typeof id === 'string') this.#removed.add(id);
    }
    const { state, unread } = heard(this.#state, event);
    this.#state = state;
    for (const id of unread.workers) this.#unread.workers.add(id);
    for (const id of unread.nets) this.#unread.nets.add(id);
    if (this.#unread.workers.size + this.#unread.nets.size > 0) this.#soonItems.ask();
  }

  async #readItems(): Promise<void> {
    const { workers, nets } = this.#unread;
    const there = (id: string) => !this.#removed.has(id) && !this.#leaving.has(id);
    const ids = { workers: [...workers].filter(there), nets: [...nets].filter(there) };
    workers.clear();
    nets.clear();
    if (ids.workers.length + ids.nets.length > SINGLE_READS) {
      this.#soonLists.ask();
      return;
    }
    await Promise.all([
      ...ids.workers.map((id) => this.readWorker(id)),
      ...ids.nets.map((id) => this.readNet(id)),
    ]);
  }
}

export const fleet = new Fleet();
