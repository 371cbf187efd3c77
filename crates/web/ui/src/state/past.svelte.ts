import type { Failure } from '../lib/api/client';
import { isoOf, readGraph, readSpan, type GraphView, type HistoryItem, type HistoryPage, type Part } from '../lib/api/graph';
import { merged } from '../lib/graph/keep';
import { marksOf } from '../lib/graph/marks';
import { Replay } from '../lib/graph/replay';
import { viewOf } from '../lib/graph/then';
import { windowOf, type Span, type Window } from '../lib/graph/time';
import { GRAPH_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import type { Graph } from './graph.svelte';
import { stream } from './stream.svelte';

/** More changes than these are not kept here: the server is asked for each moment instead. */
const MOST_PAGES = 20;
/** What comes late is dated a little before what is there. */
const OVERLAP_MS = 2 * 60_000;
/** The server's clock is known only so well, and it refuses what has not come yet. */
const MARGIN_MS = 1_000;
/** So what happened just now is read a little later too. */
const LATER_MS = 3 * MARGIN_MS;
/** A hand that drags passes by more moments than the server is asked for. */
const SETTLE_MS = 250;

/** The past of the graph: a span of it that is replayed here, and single moments beyond. */
export class Past {
  replay = $state.raw<Replay | null>(null);
  /** The span has more changes than are kept here. */
  tooMany = $state(false);
  failure = $state.raw<Failure | null>(null);
  recordsSince = $state<number | null>(null);
  /** The graph of one moment, as the server tells it. */
  #told = $state.raw<{ at: number; view: GraphView } | null>(null);
  readonly #graph: Graph;
  #first: HistoryPage | null = null;
  #items: readonly HistoryItem[] = [];
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawn: { moment: unknown; view: GraphView } | null = null;
  /** Reads later what may be too young to be told now. */
  #later: () => void = () => undefined;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** Keeps the span up to date until the returned function is called. */
  run(now: () => number): () => void {
    const soon = calmly(() => this.#extend(now()));
    let later: ReturnType<typeof setTimeout> | undefined;
    this.#later = () => {
      clearTimeout(later);
      later = setTimeout(soon.ask, LATER_MS);
    };
    const stop = stream.on(GRAPH_EVENTS, () => {
      soon.ask();
      this.#later();
    });
    return () => {
      this.#later = () => undefined;
      this.#turn += 1;
      clearTimeout(this.#timer);
      clearTimeout(later);
      soon.stop();
      stop();
    };
  }

  /** Reads the span around a moment unless it is there. */
  async open(span: Span, moment: number | null, now: number): Promise<void> {
    const window = windowOf(span, moment, now - MARGIN_MS);
    const known = this.replay;
    if (known !== null && this.#covers(known, window)) return;
    this.#turn += 1;
    const turn = this.#turn;
    const pages = await this.#pages(window.from, window.to, turn);
    if (pages === null || turn !== this.#turn) return;
    this.#first = pages[0] ?? null;
    this.#items = pages.flatMap(({ items }) => items);
    this.#build(window);
    this.#later();
  }

  /** The graph of a moment; null while it is not known yet. */
  at(moment: number): GraphView | null {
    const { replay } = this;
    if (replay !== null && !this.tooMany && moment >= replay.from && moment <= replay.to + OVERLAP_MS) {
      const state = replay.at(moment);
      if (this.#drawn?.moment !== state) {
        const view = viewOf(state, moment, this.#graph.places.of);
        this.#drawn = { moment: state, view };
      }
      return this.#drawn.view;
    }
    return this.#told?.view ?? null;
  }

  /** Asks the server for a moment that can't be replayed, once the hand rests. */
  ask(moment: number, part: Part): void {
    clearTimeout(this.#timer);
    const { replay } = this;
    if (this.#told?.at === moment) return;
    if (replay !== null && !this.tooMany && moment >= replay.from) return;
    this.#timer = setTimeout(() => void this.#tell(moment, part), SETTLE_MS);
  }

  marks(window: Window, nameOf: (service: string) => string | undefined) {
    return this.replay === null ? [] : marksOf(this.replay.changes, window, nameOf);
  }

  async #tell(moment: number, part: Part): Promise<void> {
    const turn = this.#turn;
    const answer = await readGraph({ ...part, at: isoOf(moment) }, null);
    if (turn !== this.#turn) return;
    this.failure = answer.ok ? null : answer.failure;
    if (!answer.ok || answer.value.value === null) return;
    this.#graph.places.note(answer.value.value);
    this.#told = { at: moment, view: answer.value.value };
  }

  #covers(replay: Replay, { from, to }: Window): boolean {
    const begins = Math.max(from, this.recordsSince ?? from);
    return replay.from <= begins + OVERLAP_MS && replay.to >= to - OVERLAP_MS && to - from >= (replay.to - replay.from) / 2;
  }

  async #pages(from: number, to: number, turn: number): Promise<HistoryPage[] | null> {
    const pages: HistoryPage[] = [];
    let cursor: string | null = null;
    this.tooMany = false;
    do {
      const answer = await readSpan(from, to, cursor);
      if (turn !== this.#turn) return null;
      this.failure = answer.ok ? null : answer.failure;
      if (!answer.ok) return null;
      pages.push(answer.value);
      this.recordsSince = answer.value.records_since === null ? null : Date.parse(answer.value.records_since);
      cursor = answer.value.next_cursor;
    } while (cursor !== null && pages.length < MOST_PAGES);
    this.tooMany = cursor !== null;
    return pages;
  }

  /** What happened since: only the end of the span is read. */
  async #extend(now: number): Promise<void> {
    const { replay } = this;
    const to = now - MARGIN_MS;
    if (replay === null || this.tooMany || to <= replay.to) return;
    const turn = this.#turn;
    const pages = await this.#pages(Math.max(replay.to - OVERLAP_MS, replay.from), to, turn);
    if (pages === null || turn !== this.#turn) return;
    this.#items = merged(this.#items, pages.flatMap(({ items }) => items));
    this.#build({ from: replay.from, to });
  }

  #build({ from, to }: Window): void {
    const first = this.#first;
    if (first === null) return;
    const begins = Number.isNaN(Date.parse(first.from)) ? from : Date.parse(first.from);
    this.replay = new Replay(begins, to, first.state, this.#items);
  }
}
