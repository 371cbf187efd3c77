/** The whole state of the view, as it stands in the address: any view can be pasted. */
export interface Route {
  readonly page: Page;
  /** What the page's list is narrowed to. */
  readonly filter: string;
  /** The selected row's name. */
  readonly row: string | null;
  /** Whether the inspector is open beside the list. */
  readonly inspector: boolean;
}

export type Page = 'now' | 'system' | 'missing';

export const PATHS = { now: '/', system: '/system' } as const;
export const TITLES: Record<Page, string> = { now: 'Now', system: 'System', missing: 'Not found' };

/** An address is written by anyone: what it holds is cut to this length. */
export const VALUE_LIMIT = 200;

export function parse(pathname: string, search: string): Route {
  const query = new URLSearchParams(search);
  const value = (name: string) => (query.get(name) ?? '').slice(0, VALUE_LIMIT);
  const row = value('row') || null;
  return {
    page: pageOf(pathname),
    filter: value('filter'),
    row,
    inspector: row !== null && query.has('inspector'),
  };
}

/** The address of a route; null for a page that does not exist, which has none. */
export function format(route: Route): string | null {
  if (route.page === 'missing') return null;
  const query = new URLSearchParams();
  if (route.filter !== '') query.set('filter', route.filter);
  if (route.row !== null) query.set('row', route.row);
  if (route.row !== null && route.inspector) query.set('inspector', 'open');
  const text = query.toString();
  return PATHS[route.page] + (text === '' ? '' : `?${text}`);
}

export function at(page: Page): Route {
  return { page, filter: '', row: null, inspector: false };
}

function pageOf(pathname: string): Page {
  const path = pathname.replace(/\/+$/, '') || '/';
  if (path === PATHS.now) return 'now';
  return path === PATHS.system ? 'system' : 'missing';
}
