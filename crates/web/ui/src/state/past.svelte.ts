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

/** Of more changes than these only the newest are kept here: the server is asked for each moment before them. */
export const MOST_CHANGES = 40_000;
/** As many pages as they are, and one for those that came late. */
const MOST_PAGES = 21;
/** What comes late is dated a little before what is there. */
const OVERLAP_MS = 2 * 60_000;
/** The server's clock is known only so well, and it refuses what has not come yet. */
const MARGIN_MS = 1_000;
/** A hand that drags passes by more moments than the server is asked for, and so does play. */
export const SETTLE_MS = 250;
/** While nobody looks back, what happens is added now and then. */
const EXTEND_PAUSE_MS = 3_000;

/** A moment as it is drawn; `view` is null while it is not known. */
export interface Then {
  readonly view: GraphView | null;
  /** The moment that `view` is of: while the past is played, a little before the one that is looked at. */
  readonly of: number;
  /** It was asked for and could not be read. */
  readonly failed: boolean;
}

interface Pages {
  readonly pages: readonly HistoryPage[];
  /** There was more than is kept. */
  readonly isCut: boolean;
}

interface Told {
  readonly moment: number;
  readonly part: Part;
  readonly view: GraphView | null;
}

/** A moment that the server is to be asked for. */
interface Wanted extends Pick<Told, 'moment' | 'part'> {
  readonly playing: boolean;
}

/** The past of the graph: a span of it that is replayed here, and single moments beyond. */
export class Past {
  /** From when on changes are kept here, where the span has too many; null where all of it is. */
  keptFrom = $state<number | null>(null);
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
  /** The moment that is wanted now. */
  #wanted: Wanted | null = null;
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
      this.#timer = undefined;
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Reads what is missing of a span that is looked at. */
  async open(window: Window, now: number): Promise<void> {
    const to = Math.min(window.to, now - MARGIN_MS);
    this.#opened = { from: window.from, to };
    const known = this.#replay;
    if (known !== null && this.#begins(known) && to - known.to <= window.to - window.from) {
      if (known.to < to - OVERLAP_MS) await this.#extend(to);
      return;
    }
    if (!(await this.#begin(window.from, to))) return;
    // What happened just before is too young to be told now, and nobody may have listened then.
    clearTimeout(this.#later);
    if (window.to > to) this.#later = setTimeout(this.#ask, MARGIN_MS);
  }

  /** The graph of a moment; while the past is played, the last one that was told until its own has come. */
  at(moment: number, part: Part, playing = false): Then {
    void this.#version;
    const replay = this.#replay;
    if (replay === null || !this.#replays(replay, moment)) {
      const told = this.#told;
      if (told === null || !isOf(told, part) || (told.moment !== moment && !playing)) {
        return { view: null, of: moment, failed: false };
      }
      return { view: told.view, of: told.moment, failed: told.view === null && told.moment === moment };
    }
    const state = replay.at(moment);
    if (this.#drawn?.moment !== state) {
      this.#drawn = { moment: state, view: viewOf(state, moment, this.#places.of) };
    }
    return { view: this.#drawn.view, of: moment, failed: false };
  }

  /** Whether a moment can be replayed here; else it is told as a part by the server. */
  isReplayed(moment: number): boolean {
    return this.#replay !== null && this.#replays(this.#replay, moment);
  }

  /** Between which changes a moment lies; null where it can't be replayed here. */
  readonly stillAt = (moment: number): Window | null =>
    this.#replay !== null && this.#replays(this.#replay, moment) ? this.#replay.stillAt(moment) : null;

  /** Asks the server for a moment that can't be replayed, once the hand rests; while it plays, for the last one now and then. */
  ask(moment: number, part: Part, playing = false): void {
    this.#wanted = { moment, part, playing };
    if (playing && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.isReplayed(moment) || this.#isTold(this.#wanted)) return;
    this.#timer = setTimeout(() => void this.#tell(), SETTLE_MS);
  }

  #isTold({ moment, part }: Wanted): boolean {
    const told = this.#told;
    return told !== null && told.view !== null && told.moment === moment && isOf(told, part);
  }

  async #tell(): Promise<void> {
    const wanted = this.#wanted;
    const timer = this.#timer;
    // The span may have come while the hand rested.
    if (wanted !== null && !this.isReplayed(wanted.moment)) {
      const answer = await readMoment(wanted.moment, wanted.part);
      // Another one was asked for instead.
      if (timer !== this.#timer) return;
      this.failure = answer.ok ? null : answer.failure;
      if (answer.ok) this.#places.note(answer.value);
      // While it plays the next one is soon asked for, and what was told last stands until it comes.
      if (answer.ok || !wanted.playing) this.#told = { ...wanted, view: answer.ok ? answer.value : null };
    }
    this.#timer = undefined;
  }

  /** Beyond its end everything is as it was there, as long as nobody told of anything since. */
  #replays(replay: Replay, moment: number): boolean {
    if (moment < replay.from) return false;
    return moment <= replay.to || (moment <= replay.to + OVERLAP_MS && !this.#isBehind());
  }

  #isBehind(): boolean {
    return this.#replay !== null && this.#heardUntil > this.#replay.to;
  }

  /** Whether it goes back so far as is looked at, or as far as there are records, or as changes are kept. */
  #begins(replay: Replay): boolean {
    const { from, to } = this.#opened;
    // The newest changes of a span are not those of one that ends before it.
    const kept = this.keptFrom !== null && to >= replay.to - OVERLAP_MS ? this.keptFrom : from;
    return replay.from <= Math.max(from, this.recordsSince ?? from, kept) + OVERLAP_MS;
  }

  /** Reads a span from its beginning; false when another was asked for meanwhile, or it could not be read. */
  async #begin(from: number, to: number): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    const read = await this.#pages(from, to, turn);
    const first = read?.pages[0];
    if (read === null || first === undefined || turn !== this.#turn) return false;
    const begins = Number.isNaN(Date.parse(first.from)) ? from : Date.parse(first.from);
    this.#replay = new Replay(begins, to, first.state, read.pages.flatMap(({ items }) => items));
    this.#noteKept();
    return true;
  }

  /** Whether less of the span is kept than there is. */
  #noteKept(): void {
    const begins = this.#replay?.from ?? -Infinity;
    const could = Math.max(this.#opened.from, this.recordsSince ?? -Infinity);
    this.keptFrom = begins > could + OVERLAP_MS ? begins : null;
  }

  async #pages(from: number, to: number, turn: number): Promise<Pages | null> {
    const pages: HistoryPage[] = [];
    let cursor: string | null = null;
    do {
      const answer = await readSpan(from, to, MOST_CHANGES, cursor);
      if (turn !== this.#turn) return null;
      this.failure = answer.ok ? null : answer.failure;
      if (!answer.ok) return null;
      pages.push(answer.value);
      this.recordsSince = answer.value.records_since === null ? null : Date.parse(answer.value.records_since);
      cursor = answer.value.next_cursor;
    } while (cursor !== null && pages.length < MOST_PAGES);
    const begins = Date.parse(pages[0]?.from ?? '');
    return { pages, isCut: cursor !== null || begins > from + OVERLAP_MS };
  }

  /** What happened since: only the end of the span is read, and only that is added. */
  async #extend(to: number): Promise<'extended' | 'failed' | 'nothing'> {
    const replay = this.#replay;
    const length = this.#opened.to - this.#opened.from;
    // Who looks far back needs nothing of now.
    if (replay === null || to <= replay.to || to - replay.to > length) return 'nothing';
    const turn = this.#turn;
    const read = await this.#pages(Math.max(replay.to - OVERLAP_MS, replay.from), to, turn);
    if (turn !== this.#turn) return 'nothing';
    if (read === null) return 'failed';
    // So much at once can't be added: what lies between would be missing.
    if (read.isCut) return (await this.#begin(this.#opened.from, to)) ? 'extended' : 'failed';
    replay.extend(to, read.pages.flatMap(({ items }) => items));
    replay.trim(this.#opened.from - length / 2, MOST_CHANGES);
    this.#noteKept();
    this.#version += 1;
    return 'extended';
  }
}

function isOf({ part }: Told, { service, depth }: Part): boolean {
  return part.service === service && part.depth === depth;
}
