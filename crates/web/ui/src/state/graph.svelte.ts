import type { Failure } from '../lib/api/client';
import { readBoard, readGraph, type BoardItem, type GraphView, type Part } from '../lib/api/graph';
import { NO_TEAM } from '../lib/graph/groups';
import { linesOf, Places } from '../lib/graph/keep';
import { GRAPH_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';

/** The graph is brought up to date by the same events: a busy server may have been asked too early. */
const LATER_MS = 1_200;

/** The graph as it is now, with the line of the board for each service. */
export class Graph {
  view = $state.raw<GraphView | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  board = $state.raw(linesOf([]));
  /** The board is known, so it can be said whose everything is. */
  hasBoard = $state(false);
  readonly places = new Places();
  readonly #part: () => Part;
  #tag: string | null = null;
  #boardTag: string | null = null;
  /** A result of an earlier turn was overtaken, and is dropped. */
  #turn = 0;

  constructor(part: () => Part) {
    this.#part = part;
  }

  /** Follows it until the returned function is called. */
  run(): () => void {
    const soon = calmly(() => this.read());
    const ask = () => {
      soon.ask();
    };
    let later: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      soon.ask();
      clearTimeout(later);
      later = setTimeout(ask, LATER_MS);
    };
    const stops = [stream.on(GRAPH_EVENTS, heard), stream.onReload(ask), onReturn(ask), onReadAgain(ask)];
    return () => {
      this.#turn += 1;
      clearTimeout(later);
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Another part is asked for; what is shown stays until it is there. */
  restart(): void {
    this.#tag = null;
    void this.read();
  }

  async read(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    const [graph, board] = await Promise.all([
      readGraph(this.#part(), this.#tag),
      readBoard(this.#boardTag),
    ]);
    if (turn !== this.#turn) return;
    this.reading = false;
    this.failure = graph.ok ? null : graph.failure;
    if (board.ok) this.#takeBoard(board.value.value?.items, board.value.tag);
    if (!graph.ok || graph.value.value === null) return;
    this.#tag = graph.value.tag;
    this.places.note(graph.value.value);
    this.view = graph.value.value;
  }

  readonly teamOf = (service: string): string => this.board.get(service)?.team ?? NO_TEAM;

  #takeBoard(items: readonly BoardItem[] | undefined, tag: string | null): void {
    this.hasBoard = true;
    if (items === undefined) return;
    this.#boardTag = tag;
    this.board = linesOf(items);
  }
}
