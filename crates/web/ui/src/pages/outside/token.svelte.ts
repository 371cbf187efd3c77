import { tokenOf } from '../../lib/entry';

/**
 * The token of the link that was opened. It is taken out of the address at once, so that it stays
 * in no history, no screenshot and no copied address.
 */
export class LinkToken {
  value = $state<string | null>(null);

  constructor() {
    this.#take();
  }

  /** A link pasted into the same tab changes only the fragment, and loads no new page. */
  run(): () => void {
    const take = () => {
      this.#take();
    };
    addEventListener('hashchange', take);
    return () => {
      removeEventListener('hashchange', take);
    };
  }

  #take(): void {
    const token = tokenOf(location.hash);
    if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
    if (token !== null) this.value = token;
  }
}
