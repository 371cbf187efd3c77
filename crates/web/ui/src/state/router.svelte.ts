import { at, format, parse, type Place, type Route, type Where } from '../lib/route';

/** The address bar as state: reading it is reactive, and every change of it is an address. */
class Router {
  route = $state.raw<Route>(parse(location.pathname, location.search));

  constructor() {
    addEventListener('popstate', () => {
      this.route = parse(location.pathname, location.search);
    });
  }

  go(page: Place, where: Where = {}): void {
    this.#set(at(page, where), true);
  }

  /** A change within the page. Opening something is a step that Back undoes; the rest is not. */
  change(change: Partial<Omit<Route, 'page'>>): void {
    const next = { ...this.route, ...change };
    this.#set(next, next.inspector && !this.route.inspector);
  }

  #set(route: Route, push: boolean): void {
    const address = format(route);
    if (address === null) return;
    if (push && address !== location.pathname + location.search) {
      history.pushState(null, '', address);
    } else {
      history.replaceState(null, '', address);
    }
    this.route = route;
  }
}

export const router = new Router();

/** Follows a plain click on a link to a page; a click with a modifier stays the browser's. */
export function follow(page: Place, where: Where = {}): (event: MouseEvent) => void {
  return (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
      return;
    }
    event.preventDefault();
    router.go(page, where);
  };
}
