import { readAliases, type Alias } from '../lib/api/aliases';
import { readWallboard } from '../lib/api/board';
import { readSuggestions } from '../lib/api/suggestions';
import { countOf } from '../lib/aliases';
import { TOPOLOGY_EVENTS } from '../lib/services';
import { calmly } from './calmly';
import { Listing } from './listing.svelte';
import { Reading } from './reading.svelte';
import { stream } from './stream.svelte';

/** What nothing tells of is read again this often. */
const EVERY_MS = 60_000;

/** The aliases, the names that services report, and what may be the same. */
export class Names {
  readonly aliases = new Listing<Alias>(readAliases);
  readonly board = new Reading(readWallboard);
  readonly suggestions = new Reading(readSuggestions);
  readonly groups = $derived(this.board.value?.items ?? []);

  /** Follows them until the returned function is called. */
  run(): () => void {
    const soon = calmly(async () => {
      const read = [this.aliases.read(), this.board.read(), this.suggestions.read()];
      return (await Promise.all(read)).every(Boolean);
    });
    const again = () => {
      soon.ask();
    };
    const stops = [
      this.aliases.run(EVERY_MS),
      this.board.run(EVERY_MS),
      this.suggestions.run(EVERY_MS),
      stream.on(TOPOLOGY_EVENTS, again),
      stream.onReload(again),
    ];
    return () => {
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** How many more dependencies go by a name than `before`, once that is read anew. */
  async gained(name: string, before: number): Promise<number> {
    // A question of its own: one that the stream asks meanwhile would overtake it.
    const answer = await readWallboard();
    void this.board.read();
    return countOf(answer.ok ? answer.value.items : this.groups, name) - before;
  }
}
