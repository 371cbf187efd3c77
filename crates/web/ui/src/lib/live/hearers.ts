import type { Reload } from './follow';
import type { LiveEvent } from './messages';

/** Takes what happened, in order and each thing once. */
export type Hearer = (event: LiveEvent) => void;

/** Who on the page wants to know of what. */
export class Hearers {
  readonly #hearers = new Set<{ readonly types: readonly string[]; readonly hearer: Hearer }>();
  readonly #reloaders = new Set<(why: Reload) => void>();

  /** Hears of these types of events until the returned function is called. */
  on(types: readonly string[], hearer: Hearer): () => void {
    const entry = { types, hearer };
    this.#hearers.add(entry);
    return () => this.#hearers.delete(entry);
  }

  /** Calls back when what is shown has to be read again, until the returned function is called. */
  onReload(reloader: (why: Reload) => void): () => void {
    const entry = (why: Reload) => {
      reloader(why);
    };
    this.#reloaders.add(entry);
    return () => this.#reloaders.delete(entry);
  }

  tell(events: readonly LiveEvent[], reload: Reload | null): void {
    for (const event of events) {
      for (const { types, hearer } of [...this.#hearers]) {
        if (types.includes(event.type)) hearer(event);
      }
    }
    if (reload !== null) for (const reloader of [...this.#reloaders]) reloader(reload);
  }
}
