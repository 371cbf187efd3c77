import { at, format, movedTo, parse, type Place, type Route, type Where } from '../lib/route';

/** Takes how to leave the page, and says whether it may be left at once. */
export type Guard = (leave: () => void) => boolean;

/** The address bar as state: reading it is reactive, and every change of it is an address. */
class Router {
  route = $state.raw<Route>(parse(location.pathname, location.search));

  #guard: Guard | null = null;

  constructor() {
    const moved = movedTo(location.pathname, location.search);
    if (moved !== null) history.replaceState(null, '', moved + location.hash);
    addEventListener('popstate', () => {
      this.#back(parse(location.pathname, location.search));
    });
  }

  go(page: Place, where: Where = {}, filter = ''): void {
    this.#leave({ ...at(page, where), filter });
  }

  /** Goes to any state of a page. */
  visit(route: Route): void {
    this.#leave(route);
  }

  /** The page says that leaving would lose something. */
  get isGuarded(): boolean {
    return this.#guard !== null;
  }

  /** Asks before the page is left, until the returned function is called. */
  guard(guard: Guard): () => void {
    this.#guard = guard;
    return () => {
      if (this.#guard === guard) this.#guard = null;
    };
  }

  /** A change within the page. Opening something is a step that Back undoes; the rest is not. */
  change(change: Partial<Omit<Route, 'page'>>): void {
    const next = { ...this.route, ...change };
    this.#set(next, next.inspector && !this.route.inspector);
  }

  #leave(next: Route): void {
    const leave = () => {
      this.#set(next, true);
    };
    if (this.#guard === null || this.#guard(leave)) leave();
  }

  /** The browser has moved already, so a page that is not to be left yet takes its address back. */
  #back(next: Route): void {
    const address = format(this.route);
    if (this.#guard === null || next.page === this.route.page || address === null) {
      this.route = next;
      return;
    }
    history.pushState(null, '', address);
    this.#leave(next);
  }

  #set(route: Route, push: boolean): void {
    const path = format(route);
    if (path === null) return;
    // A token behind the address stays with the page that it opened.
    const address = route.page === this.route.page ? path + location.hash : path;
    if (push && address !== location.pathname + location.search + location.hash) {
      history.pushState(null, '', address);
    } else {
      history.replaceState(null, '', address);
    }
    this.route = route;
  }
}

export const router = new Router();

/** Follows a plain click on a link to a page; a click with a modifier stays the browser's. */
export function follow(page: Place, where: Where = {}, filter = ''): (event: MouseEvent) => void {
  return followTo({ ...at(page, where), filter });
}

/** The same to any state of a page. */
export function followTo(route: Route): (event: MouseEvent) => void {
  return (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      return;
    }
    event.preventDefault();
    router.visit(route);
  };
}
