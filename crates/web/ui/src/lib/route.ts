import { isChangeKind, isChangeStatus } from './activity-filter';
import { compared } from './names';

/** The whole state of the view, as it stands in the address: any view can be pasted. */
export interface Route {
  readonly page: Page;
  /** What the page's list is narrowed to. */
  readonly filter: string;
  /** The selected row's name. */
  readonly row: string | null;
  /** Whether the inspector is open beside the list. */
  readonly inspector: boolean;
  /** What the server is asked to narrow the page's list to. */
  readonly where: Where;
}

export type PublicPage = 'login' | 'setup' | 'invite' | 'request-access';
export type AdminPage = 'users' | 'invites' | 'requests' | 'jobs' | 'settings' | 'audit';
export type NowPage = 'now' | 'activity';
export type GraphPage = 'graph' | 'thing';
export type ServicePage = 'services' | 'aliases' | 'service-new' | 'service' | 'service-edit';
export type ReportPage = 'reports' | 'report' | 'shared';
export type FleetPage = 'fleet' | 'worker-new' | 'nets' | 'net-new' | 'net-edit';
export type JourneyPage = 'journeys' | 'journey-new' | 'journey' | 'journey-edit' | 'run';
export type SystemPage = 'system' | 'instances';
export type Page =
  | NowPage
  | GraphPage
  | JourneyPage
  | FleetPage
  | ReportPage
  | 'account'
  | SystemPage
  | ServicePage
  | AdminPage
  | PublicPage
  | 'missing';
export type Place = Exclude<Page, 'missing'>;
export type Where = Readonly<Partial<Record<Parameter, string>>>;
/** `id` stands in the path, the others in the query. */
type Parameter =
  | 'id'
  | 'status'
  | 'team'
  | 'sort'
  | 'range'
  | 'kind'
  | 'action'
  | 'actor'
  | 'target'
  | 'board'
  | 'at'
  | 'service'
  | 'depth'
  | 'node'
  | 'from'
  | 'to'
  | 'teams'
  | 'view'
  | 'worker';

export const PATHS: Record<Place, string> = {
  now: '/',
  activity: '/activity',
  graph: '/graph',
  thing: '/graph/thing',
  services: '/services',
  aliases: '/services/aliases',
  'service-new': '/services/new',
  service: '/services/:id',
  'service-edit': '/services/:id/edit',
  journeys: '/journeys',
  'journey-new': '/journeys/new',
  journey: '/journeys/:id',
  'journey-edit': '/journeys/:id/edit',
  run: '/runs/:id',
  fleet: '/fleet',
  'worker-new': '/fleet/new',
  nets: '/nets',
  'net-new': '/nets/new',
  'net-edit': '/nets/:id/edit',
  reports: '/reports',
  report: '/reports/:id',
  shared: '/shared',
  system: '/system',
  instances: '/system/instances',
  account: '/account',
  users: '/admin/users',
  invites: '/admin/invites',
  requests: '/admin/access-requests',
  jobs: '/admin/jobs',
  settings: '/admin/settings',
  audit: '/admin/audit',
  login: '/login',
  setup: '/setup',
  invite: '/invite',
  'request-access': '/request-access',
};

export const TITLES: Record<Page, string> = {
  now: 'Now',
  activity: 'Activity',
  graph: 'Graph',
  thing: 'Thing',
  services: 'Services',
  aliases: 'Aliases',
  'service-new': 'Add a service',
  service: 'Service',
  'service-edit': 'Edit the service',
  journeys: 'Journeys',
  'journey-new': 'Add a journey',
  journey: 'Journey',
  'journey-edit': 'Edit the journey',
  run: 'Run',
  fleet: 'Fleet',
  'worker-new': 'Add a worker',
  nets: 'Nets',
  'net-new': 'Add a net',
  'net-edit': 'Edit the net',
  reports: 'Reports',
  report: 'Report',
  shared: 'Shared report',
  system: 'System',
  instances: 'Instances',
  account: 'Account',
  users: 'Users',
  invites: 'Invites',
  requests: 'Access requests',
  jobs: 'Jobs',
  settings: 'Settings',
  audit: 'Audit log',
  login: 'Sign in',
  setup: 'First account',
  invite: 'Accept the invite',
  'request-access': 'Request access',
  missing: 'Not found',
};

export const ADMIN_PAGES: readonly AdminPage[] = [
  'users',
  'invites',
  'requests',
  'jobs',
  'settings',
  'audit',
];
const SERVICE_PAGES: readonly ServicePage[] = [
  'services',
  'aliases',
  'service-new',
  'service',
  'service-edit',
];
const JOURNEY_PAGES: readonly JourneyPage[] = [
  'journeys',
  'journey-new',
  'journey',
  'journey-edit',
  'run',
];
const FLEET_PAGES: readonly FleetPage[] = ['fleet', 'worker-new', 'nets', 'net-new', 'net-edit'];
const PUBLIC_PAGES: readonly PublicPage[] = ['login', 'setup', 'invite', 'request-access'];

/** Where people look for a page that stands elsewhere. */
const MOVED: Readonly<Partial<Record<string, Place>>> = {
  '/admin': 'users',
  '/jobs': 'jobs',
  '/settings': 'settings',
};

/** What each page may ask the server for. */
const PARAMETERS: Partial<Record<Page, readonly Parameter[]>> = {
  now: ['board'],
  activity: ['status', 'kind', 'target'],
  graph: ['at', 'range', 'service', 'depth', 'teams', 'view'],
  thing: ['node', 'range'],
  services: ['status', 'team', 'sort'],
  service: ['range'],
  'net-new': ['worker'],
  reports: ['from', 'to'],
  report: ['view'],
  shared: ['view'],
  requests: ['status'],
  jobs: ['status', 'kind'],
  audit: ['action', 'actor', 'target'],
};

/** An id as the server makes them; anything else in its place is no address of ours. */
const ID = /^[\da-f-]{1,64}$/i;
/** How far around a service the server looks. */
const DEPTH = /^(?:1?\d|20)$/;

/** What the server would refuse is as if it were not in the address. */
const KNOWN: Partial<Record<Page, Partial<Record<Parameter, (value: string) => boolean>>>> = {
  activity: { status: isChangeStatus, kind: isChangeKind, target: (value) => ID.test(value) },
  graph: { service: (value) => ID.test(value), depth: (value) => DEPTH.test(value) },
  thing: { node: isThing },
  'net-new': { worker: (value) => ID.test(value) },
};

/** An address is written by anyone: what it holds is cut to this length. An e-mail fits, and the longest name of a node. */
export const VALUE_LIMIT = 320;

/** Which teams are folded may be a long list of long names. */
export const TEAMS_LIMIT = 6_000;

export function parse(pathname: string, search: string): Route {
  const query = new URLSearchParams(search);
  const value = (name: string) => (query.get(name) ?? '').slice(0, name === 'teams' ? TEAMS_LIMIT : VALUE_LIMIT);
  const { page, id } = placeOf(pathname);
  // It may stand there alone, as `/?board`.
  if (query.get('board') === '') query.set('board', 'on');
  const row = value('row') || null;
  const asked = (PARAMETERS[page] ?? [])
    .map((name) => [name, value(name)] as const)
    .filter(([name, text]) => KNOWN[page]?.[name]?.(text) ?? true);
  return {
    page,
    filter: value('filter'),
    row,
    inspector: row !== null && query.has('inspector'),
    where: Object.fromEntries([...id, ...asked].filter(([, text]) => text !== '')),
  };
}

/** The address of a route; null for a page that does not exist, which has none. */
export function format(route: Route): string | null {
  if (route.page === 'missing') return null;
  const query = new URLSearchParams();
  for (const name of PARAMETERS[route.page] ?? []) {
    const value = route.where[name] ?? '';
    if (value !== '') query.set(name, value);
  }
  if (route.filter !== '') query.set('filter', route.filter);
  if (route.row !== null) query.set('row', route.row);
  if (route.row !== null && route.inspector) query.set('inspector', 'open');
  const text = query.toString();
  const path = PATHS[route.page].replace(':id', encodeURIComponent(route.where.id ?? ''));
  return path + (text === '' ? '' : `?${text}`);
}

export function at(page: Page, where: Where = {}): Route {
  return { page, filter: '', row: null, inspector: false, where };
}

/** Where a node is shown in full: the page of a service, or of a thing that services lean on. */
export function nodeAt(id: string): Route {
  return isThing(id) ? at('thing', { node: id }) : at('service', { id });
}

/** What stands before the key of a thing that is no service. */
const EXTERNAL = 'external:';

export function isThing(node: string): boolean {
  return node.startsWith(EXTERNAL);
}

/** The node of what goes by a name and is no service. */
export function thingOf(name: string): string {
  return EXTERNAL + compared(name);
}

/** The address that an old or guessed one stands for; null for one that is its own. */
export function movedTo(pathname: string, search: string): string | null {
  const path = pathname.replace(/\/+$/, '');
  return MOVED[path] === undefined ? null : format(parse(pathname, search));
}

/** A page that is there without a session. */
export function isPublic(page: Page): page is PublicPage {
  return PUBLIC_PAGES.some((known) => known === page);
}

export function isAdmin(page: Page): page is AdminPage {
  return ADMIN_PAGES.some((known) => known === page);
}

export function isNow(page: Page): page is NowPage {
  return page === 'now' || page === 'activity';
}

export function isGraph(page: Page): page is GraphPage {
  return page === 'graph' || page === 'thing';
}

export function isSystem(page: Page): page is SystemPage {
  return page === 'system' || page === 'instances';
}

export function isJourneys(page: Page): page is JourneyPage {
  return JOURNEY_PAGES.some((known) => known === page);
}

export function isFleet(page: Page): page is FleetPage {
  return FLEET_PAGES.some((known) => known === page);
}

export function isReports(page: Page): page is ReportPage {
  return page === 'reports' || page === 'report' || page === 'shared';
}

export function isServices(page: Page): page is ServicePage {
  return SERVICE_PAGES.some((known) => known === page);
}

/** The page of a path, and the id that stands in it. */
function placeOf(pathname: string): { page: Page; id: readonly (readonly ['id', string])[] } {
  const path = pathname.replace(/\/+$/, '') || '/';
  const moved = MOVED[path];
  if (moved !== undefined) return { page: moved, id: [] };
  const places = Object.keys(PATHS) as Place[];
  const exact = places.find((place) => PATHS[place] === path && !path.includes(':'));
  if (exact !== undefined) return { page: exact, id: [] };
  const [, first, id = '', ...rest] = path.split('/');
  const pattern = ['', first, ':id', ...rest].join('/');
  const page = ID.test(id) ? places.find((place) => PATHS[place] === pattern) : undefined;
  return page === undefined ? { page: 'missing', id: [] } : { page, id: [['id', id]] };
}
