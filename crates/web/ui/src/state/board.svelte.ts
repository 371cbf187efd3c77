import { readBoard } from '../lib/api/board';
import type { Failure } from '../lib/api/client';
import { byId, linesOf, patchOf, withPatches, type Line, type Patch } from '../lib/board';
import { GRAPH_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import { onReadAgain, onReturn } from './refresh';
import { stream } from './stream.svelte';
import { together } from './together';

/** A whole board is large: what events do not tell of it may be this old. */
const PAUSE_MS = 3_000;
/** Events come in groups, and each move of the board is drawn. */
const MOVE_MS = 50;
const MOVE_PAUSE_MS = 250;
/** How long a service takes has no events, and is summed up every quarter of an hour. */
const SUMMED_MS = 60_000;

/** Every service in one line, as it is now. All who use it share one reading. */
class Board {
  /** Null until it is known. */
  lines = $state.raw<readonly Line[] | null>(null);
  /** Whether there are more than the board has room for. */
  cut = $state(false);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  readonly teams = $derived(teamsOf(this.lines ?? []));
  readonly #byId = $derived(byId(this.lines ?? []));
  #tag: string | null = null;
  /** An answer of an earlier turn was overtaken, and is dropped. */
  #turn = 0;
  /** What was heard of services and is not drawn yet: at most one for each of them. */
  readonly #heard = new Map<string, Patch>();
  /** What was heard while a board was on its way, which may be older. */
  readonly #meanwhile = new Map<string, Patch>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #movedAt = 0;

  line(id: string | null): Line | undefined {
    return id === null ? undefined : this.#byId.get(id);
  }

  /** Keeps it true until the returned function is called. */
  readonly use = together(() => this.#follow());

  /** Says whether it was read. Of two reads that are under way the later one counts. */
  async read(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.reading = true;
    this.#meanwhile.clear();
    const answer = await readBoard(this.lines === null ? null : this.#tag);
    if (turn !== this.#turn) return true;
    this.reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (!answer.ok || answer.value === null) return answer.ok;
    const { tag, value } = answer.value;
    this.#tag = tag;
    this.cut = value.is_cut;
    const lines = linesOf(value.items, this.lines ?? []);
    this.lines = this.#meanwhile.size === 0 ? lines : withPatches(lines, this.#meanwhile);
    return true;
  }

  #follow(): () => void {
    const soon = calmly(() => this.read(), PAUSE_MS);
    const ask = () => {
      soon.ask();
    };
    const stops = [
      stream.on(GRAPH_EVENTS, (event) => {
        const told = patchOf(event);
        if (told !== null) this.#hear(told.id, told.patch);
        soon.ask();
      }),
      stream.onReload(ask),
      onReturn(ask),
      onReadAgain(ask),
    ];
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') soon.ask();
    }, SUMMED_MS);
    void this.read().then((read) => {
      if (!read) soon.ask();
    });
    return () => {
      soon.stop();
      clearInterval(timer);
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#heard.clear();
      for (const stop of stops) stop();
    };
  }

  #hear(id: string, patch: Patch): void {
    this.#heard.set(id, { ...this.#heard.get(id), ...patch });
    if (this.reading) this.#meanwhile.set(id, { ...this.#meanwhile.get(id), ...patch });
    const rested = Date.now() - this.#movedAt;
    this.#timer ??= setTimeout(
      () => {
        this.#move();
      },
      Math.max(MOVE_MS, MOVE_PAUSE_MS - rested),
    );
  }

  #move(): void {
    this.#timer = undefined;
    this.#movedAt = Date.now();
    if (this.lines !== null) this.lines = withPatches(this.lines, this.#heard);
    this.#heard.clear();
  }
}

function teamsOf(lines: readonly Line[]): string[] {
  const named = lines.filter(({ team }) => team !== '');
  const teams = new Map(named.map(({ team, teamOrder }) => [team, teamOrder]));
  return [...teams].sort(([, one], [, other]) => one - other).map(([team]) => team);
}

export const board = new Board();
