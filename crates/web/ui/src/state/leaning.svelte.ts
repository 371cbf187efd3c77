import { readAllAliases, type Alias } from '../lib/api/aliases';
import { readWallboard, type Wallboard } from '../lib/api/board';
import { graphReader, type GraphView } from '../lib/api/graph';
import type { Leaning } from '../lib/board-filter';
import { namesIn, otherNames } from '../lib/leaning';
import { TOPOLOGY_EVENTS } from '../lib/services';
import { Told } from './told.svelte';
import { together } from './together';

const PAUSE_MS = 5_000;

/** By what other names services report things, for those who look for one of them. */
class Reported extends Told<readonly Alias[]> {
  readonly names = $derived(otherNames(this.value ?? []));
  /** Keeps them true until the returned function is called. */
  readonly use = together(() => this.run());

  constructor() {
    super(TOPOLOGY_EVENTS, readAllAliases, PAUSE_MS);
  }
}

export const reported = new Reported();

/** By what names services know what they lean on: read only once somebody asks for it. */
class Leanings extends Told<GraphView> {
  /** Null until it is known. */
  readonly names: Leaning = $derived(this.value === null ? null : namesIn(this.value, reported.names));
  /** Whether there is more than the graph has room for. */
  readonly cut = $derived(this.value?.truncated ?? false);

  constructor() {
    const read = graphReader();
    super(TOPOLOGY_EVENTS, () => read({}), PAUSE_MS);
  }
}

/** What services lean on, by name and the worst first, for those who look for one. */
class Things extends Told<Wallboard> {
  readonly groups = $derived(this.value?.items ?? []);
  /** Keeps them true until the returned function is called. */
  readonly use = together(() => this.run());

  constructor() {
    super(TOPOLOGY_EVENTS, readWallboard, PAUSE_MS);
  }
}

export const leanings = new Leanings();
export const things = new Things();
