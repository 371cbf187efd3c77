import { graphReader, type GraphView, type Part } from '../lib/api/graph';
import { byId, type Line } from '../lib/board';
import { NO_TEAM } from '../lib/graph/groups';
import { Places } from '../lib/graph/keep';
import { GRAPH_EVENTS } from '../lib/services';
import { board } from './board.svelte';
import { Told } from './told.svelte';

/** The graph as it is now; whose each service is stands on the board. */
export class Graph extends Told<GraphView> {
  readonly places: Places;
  #known = byId([]);
  /** Another only when a name or a team is: the board moves with every event. */
  readonly #lines = $derived.by(() => {
    const lines = board.lines ?? [];
    const isSame = ({ id, name, team }: Line) => this.#known.get(id)?.name === name && this.#known.get(id)?.team === team;
    if (lines.length !== this.#known.size || !lines.every(isSame)) {
      this.#known = byId(lines);
    }
    return this.#known;
  });
  /** Whose each service is, and how it is called. */
  readonly teamOf = $derived.by(() => {
    const lines = this.#lines;
    return (service: string) => lines.get(service)?.team ?? NO_TEAM;
  });
  readonly nameOf = $derived.by(() => {
    const lines = this.#lines;
    return (service: string) => lines.get(service)?.name;
  });

  constructor(part: () => Part) {
    const [places, read] = [new Places(), graphReader()];
    super(GRAPH_EVENTS, async () => {
      const answer = await read(part());
      if (answer.ok) places.note(answer.value);
      return answer;
    });
    this.places = places;
  }

  /** Null until it is known. */
  get view(): GraphView | null {
    return this.value;
  }

  /** The board is known, or is not to be had: what there is can be drawn. */
  get hasBoard(): boolean {
    return board.lines !== null || board.failure !== null;
  }

  override run(): () => void {
    const stops = [board.use(), super.run()];
    return () => {
      for (const stop of stops) stop();
    };
  }
}
