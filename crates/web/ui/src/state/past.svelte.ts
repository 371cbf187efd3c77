import type { Failure } from '../lib/api/client';
import { readMoment, readSpan, type GraphView, type HistoryPage, type Part } from '../lib/api/graph';
import type { Places } from '../lib/graph/keep';
import { incidentsOf, type Incident } from '../lib/graph/incidents';
import { Replay } from '../lib/graph/replay';
import { spellsOf } from '../lib/graph/spells';
import { viewOf } from '../lib/graph/then';
import type { Window } from '../lib/graph/time';
import { GRAPH_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import { stream } from './stream.svelte';

/** More changes than these are not kept here: the server is asked for each moment instead. */
const MOST_PAGES = 20;
export const MOST_CHANGES = 40_000;
/** What comes late is dated a little before what is there. */
const OVERLAP_MS = 2 * 60_000;
/** The server's clock is known only so well, and it refuses what has not come yet. */
const MARGIN_MS = 1_000;
/** A hand that drags passes by more moments than the server is asked for. */
export const SETTLE_MS = 250;
/** While nobody looks back, what happens is added now and then. */
const EXTEND_PAUSE_MS = 3_000;

/** A moment as it is drawn; `view` is null while it is not known. */
export interface Then {
  readonly view: GraphView | null;
  /** It was asked for and could not be read. */
  readonly failed: boolean;
}

interface Pages {
  readonly pages: readonly HistoryPage[];
  /** There is more than is read. */
  readonly isCut: boolean;
}

interface Told {
  /** The moment and the part that it is of. */
  readonly key: string;
  readonly view: GraphView | null;
}

/** The past of the graph: a span of it that is replayed here, and single moments beyond. */
export class Past {
  /** The span has more changes than are kept here. */
  tooMany = $state(false);
  failure = $state.raw<Failure | null>(null);
  recordsSince = $state<number | null>(null);
  #replay = $state.raw<Replay | null>(null);
  /** Counts what was added to the span: the replay stays the same one. */
  #version = $state(0);
  /** What failed by itself in the span, in the order of time. */
  readonly incidents: readonly Incident[] = $derived.by(() => {
    void this.#version;
    return this.#replay === null ? [] : incidentsOf(spellsOf(this.#replay));
  });
  /** Until when something is known to have happened, by the server's clock. */
  #heardUntil = $state(-Infinity);
  /** The newest moment that was asked of the server; null as a view when it could not be read. */
  #told = $state.raw<Told | null>(null);
  readonly #places: Places;
  #turn = 0;
  /** The moment that is wanted now: an answer for any other is dropped. */
  #wanted: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What was last looked at. */
  #opened: Window = { from: 0, to: 0 };
  #drawn: { moment: unknown; view: GraphView } | null = null;
  /** Reads on, soon. */
  #ask: () => void = () => undefined;
  #later: ReturnType<typeof setTimeout> | undefined;

  constructor(places: Places) {
    this.#places = places;
  }

  /** Keeps the span up to date until the returned function is called. */
  run(now: () => number): () => void {
    const soon = calmly(async () => {
      const read = await this.#extend(now() - MARGIN_MS);
      // The server does not tell of the last moment yet.
      if (read === 'extended' && this.#isBehind()) soon.ask();
      return read !== 'failed';
    }, EXTEND_PAUSE_MS);
    this.#ask = soon.ask;
    let settling: ReturnType<typeof setTimeout> | undefined;
    /** When the server tells of it: a read before that would have to be made twice. */
    const heard = (until: number) => {
      this.#heardUntil = Math.max(this.#heardUntil, until);
      settling ??= setTimeout(() => {
        settling = undefined;
        soon.ask();
      }, MARGIN_MS);
    };
    const stops = [
      stream.on(GRAPH_EVENTS, ({ at }) => { heard(Date.parse(at)); }),
      // Nobody knows what was missed.
      stream.onReload(() => { heard(now()); }),
    ];
    return () => {
      clearTimeout(settling);
      clearTimeout(this.#later);
      this.#ask = () => undefined;
      this.#turn += 1;
      this.#wanted = null;
      clearTimeout(this.#timer);
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Reads what is missing of a span that is looked at. */
  async open(window: Window, now: number): Promise<void> {
    const to = Math.min(window.to, now - MARGIN_MS);
    const before = this.#opened;
    this.#opened = { from: window.from, to };
    const known = this.#replay;
    // Of too many changes only a narrower span can be read, or another one.
    if (this.tooMany && isAlike(before, this.#opened)) return;
    const isThere = known !== null && !this.tooMany && this.#begins(known, window.from);
    if (isThere && to - known.to <= window.to - window.from) {
      if (known.to < to - OVERLAP_MS) await this.#extend(to);
      return;
    }
    this.#turn += 1;
    const turn = this.#turn;
    const read = await this.#pages(window.from, to, turn);
    const first = read?.pages[0];
    if (first === undefined || turn !== this.#turn) return;
    const begins = Number.isNaN(Date.parse(first.from)) ? window.from : Date.parse(first.from);
    this.tooMany = read?.isCut === true;
    this.#replay = new Replay(begins, to, first.state, read?.pages.flatMap(({ items }) => items) ?? []);
    // What happened just before is too young to be told now, and nobody may have listened then.
    clearTimeout(this.#later);
    if (window.to > to) this.#later = setTimeout(this.#ask, MARGIN_MS);
  }

  /** The graph of a moment, and of no other. */
  at(moment: number, part: Part): Then {
    void this.#version;
    const replay = this.#replay;
    if (replay === null || !this.#replays(replay, moment)) {
      const told = this.#told?.key === keyOf(moment, part) ? this.#told : null;
      return { view: told?.view ?? null, failed: told !== null && told.view === null };
    }
    const state = replay.at(moment);
    if (this.#drawn?.moment !== state) {
      this.#drawn = { moment: state, view: viewOf(state, moment, this.#places.of) };
    }
    return { view: this.#drawn.view, failed: false };
  }

  /** Whether a moment can be replayed here; else it is told as a part by the server. */
  isReplayed(moment: number): boolean {
    return this.#replay !== null && this.#replays(this.#replay, moment);
  }

  /** Between which changes a moment lies; null where it can't be replayed here. */
  readonly stillAt = (moment: number): Window | null =>
    this.#replay !== null && this.#replays(this.#replay, moment) ? this.#replay.stillAt(moment) : null;

  /** Asks the server for a moment that can't be replayed, once the hand rests. */
  ask(moment: number, part: Part): void {
    clearTimeout(this.#timer);
    const key = keyOf(moment, part);
    this.#wanted = key;
    if (this.isReplayed(moment) || (this.#told?.key === key && this.#told.view !== null)) return;
    this.#timer = setTimeout(() => void this.#tell(moment, part), SETTLE_MS);
  }

  async #tell(moment: number, part: Part): Promise<void> {
    const key = keyOf(moment, part);
    // The span may have come while the hand rested.
    if (this.isReplayed(moment)) return;
    const answer = await readMoment(moment, part);
    if (key !== this.#wanted) return;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.#places.note(answer.value);
    this.#told = { key, view: answer.ok ? answer.value : null };
  }

  /** Beyond its end everything is as it was there, as long as nobody told of anything since. */
  #replays(replay: Replay, moment: number): boolean {
    if (this.tooMany || moment < replay.from) return false;
    return moment <= replay.to || (moment <= replay.to + OVERLAP_MS && !this.#isBehind());
  }

  #isBehind(): boolean {
    return this.#replay !== null && this.#heardUntil > this.#replay.to;
  }

  /** Whether it goes back so far, or as far as there are records. */
  #begins(replay: Replay, from: number): boolean {
    return replay.from <= Math.max(from, this.recordsSince ?? from) + OVERLAP_MS;
  }

  async #pages(from: number, to: number, turn: number): Promise<Pages | null> {
    const pages: HistoryPage[] = [];
    let cursor: string | null = null;
    do {
      const answer = await readSpan(from, to, cursor);
      if (turn !== this.#turn) return null;
      this.failure = answer.ok ? null : answer.failure;
      if (!answer.ok) return null;
      pages.push(answer.value);
      this.recordsSince = answer.value.records_since === null ? null : Date.parse(answer.value.records_since);
      cursor = answer.value.next_cursor;
    } while (cursor !== null && pages.length < MOST_PAGES);
    return { pages, isCut: cursor !== null };
  }

  /** What happened since: only the end of the span is read, and only that is added. */
  async #extend(to: number): Promise<'extended' | 'failed' | 'nothing'> {
    const replay = this.#replay;
    const length = this.#opened.to - this.#opened.from;
    // Who looks far back needs nothing of now.
    if (replay === null || this.tooMany || to <= replay.to || to - replay.to > length) return 'nothing';
    const turn = this.#turn;
    const read = await this.#pages(Math.max(replay.to - OVERLAP_MS, replay.from), to, turn);
    if (turn !== this.#turn) return 'nothing';
    if (read === null) return 'failed';
    this.tooMany = read.isCut;
    replay.extend(to, read.pages.flatMap(({ items }) => items));
    replay.trim(this.#opened.from - length / 2, MOST_CHANGES);
    this.#version += 1;
    return 'extended';
  }
}

/** A little later, the same span is no other one. */
function isAlike(one: Window, other: Window): boolean {
  return Math.abs(one.from - other.from) <= OVERLAP_MS && Math.abs(one.to - other.to) <= OVERLAP_MS;
}

function keyOf(moment: number, { service = '', depth = '' }: Part): string {
  return `${String(moment)} ${service} ${depth}`;
}
