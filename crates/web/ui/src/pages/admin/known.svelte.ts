import { readFiles } from '../../lib/api/files';
import { LIST_LIMIT } from '../../lib/api/list';
import { fleet } from '../../state/fleet.svelte';
import { knownJourneys } from '../../state/journeys.svelte';
import { Reading } from '../../state/reading.svelte';
import type { KnownNames } from './jobs';

/** What jobs are about, by name: journeys, and one's own workers, nets and transcripts. */
export class Known implements KnownNames {
  readonly #files = new Reading(() => readFiles(null, LIST_LIMIT));
  readonly #fileNames = $derived(
    namesOf((this.#files.value?.items ?? []).map(({ id, title, name }) => ({ id, name: title ?? name }))),
  );
  readonly #journeyNames = $derived(namesOf(knownJourneys.items));

  readonly journey = (id: string) => this.#journeyNames[id];
  readonly worker = (id: string) => fleet.worker(id)?.name;
  readonly net = (id: string) => fleet.net(id)?.name;
  readonly file = (id: string) => this.#fileNames[id];

  /** Keeps those true that jobs of these kinds are about: what nobody asks for is not read. */
  follow(kinds: () => ReadonlySet<string>): void {
    const about = (kind: string, use: () => () => void) => {
      const isWanted = $derived(kinds().has(kind));
      $effect(() => (isWanted ? use() : undefined));
    };
    about('journey', knownJourneys.use);
    about('report', () => this.#files.run());
    about('fleet_operation', fleet.use);
  }
}

function namesOf(items: readonly { readonly id: string; readonly name: string }[]): Partial<Record<string, string>> {
  return Object.fromEntries(items.map(({ id, name }) => [id, name]));
}
