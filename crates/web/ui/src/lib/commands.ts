import type { Command } from './keys';

/** What the palette can do beside what has a key. */
export type Action =
  | Command
  | 'add-service'
  | 'add-journey'
  | 'add-worker'
  | 'add-net'
  | 'go-nets'
  | 'upload-transcript'
  | 'go-aliases'
  | 'go-instances'
  | 'go-invites'
  | 'go-requests'
  | 'go-settings'
  | 'go-audit'
  | 'copy-link'
  | 'read-now'
  | 'sign-out'
  | `theme-${'system' | 'light' | 'dark'}`;

export interface Choice {
  /** What belongs together stands together while nothing is typed. */
  readonly group: 'page' | 'editor' | 'admin' | 'action' | 'look' | 'link';
  readonly title: string;
  readonly words: string;
  readonly does: Action | { readonly open: string };
}

/** What a person can choose: what is for editors or admins is shown to them alone. */
export function choicesFor(may: { readonly edit: boolean; readonly admin: boolean }): Choice[] {
  return CHOICES.filter(
    ({ group }) => (group !== 'admin' || may.admin) && (group !== 'editor' || may.edit),
  );
}

/** The palette's whole content, in the order in which an empty search shows it. */
const CHOICES: readonly Choice[] = [
  ...group('page', [
    ['Go to Now', 'home start root causes', 'go-now'],
    ['Go to Services', 'watched health list down degraded', 'go-services'],
    ['Go to Graph', 'dependencies leans on root cause map time past', 'go-graph'],
    ['Go to Activity', 'changes history what happened unstable flapping', 'go-activity'],
    ['Go to Journeys', 'synthetic checks user path runs steps yaml', 'go-journeys'],
    ['Go to Fleet', 'workers machines agents regions provision', 'go-fleet'],
    ['Go to Nets', 'fleet checks bundles loaded workers', 'go-nets'],
    ['Go to Reports', 'post-mortem incident call transcript', 'go-reports'],
    ['Go to the wallboard', 'screen wall tv big kiosk board', 'go-wallboard'],
    ['Go to Aliases', 'names canonical same thing', 'go-aliases'],
    ['Go to System', 'health checks version database', 'go-system'],
    ['Go to Instances', 'processes shards leases who polls what', 'go-instances'],
    ['Go to Account', 'me profile sessions api tokens password', 'go-account'],
  ]),
  ...group('editor', [
    ['Add a service', 'new watch create endpoint', 'add-service'],
    ['Add a journey', 'new create yaml synthetic check path', 'add-journey'],
    ['Add a worker', 'new create machine fleet fly sprite process', 'add-worker'],
    ['Add a net', 'new create checks fleet bundle', 'add-net'],
  ]),
  ...group('admin', [
    ['Go to Users', 'admin people roles disable', 'go-admin'],
    ['Go to Invites', 'admin links people add', 'go-invites'],
    ['Go to Access requests', 'admin approve reject', 'go-requests'],
    ['Go to Jobs', 'admin queue background work failed stuck retry', 'go-jobs'],
    ['Go to Settings', 'admin configuration values flags environment', 'go-settings'],
    ['Go to Audit log', 'admin history who did what', 'go-audit'],
  ]),
  ...group('action', [
    ['Upload a transcript', 'new report incident call post-mortem file vtt txt', 'upload-transcript'],
    ['Copy link to this view', 'url address share paste', 'copy-link'],
    ['Read again now', 'refresh reload update', 'read-now'],
    ['Sign out', 'log out leave end session', 'sign-out'],
  ]),
  ...group('look', [
    ['Theme: system', 'appearance automatic', 'theme-system'],
    ['Theme: light', 'appearance day', 'theme-light'],
    ['Theme: dark', 'appearance night', 'theme-dark'],
    ['Switch density', 'compact comfortable rows', 'density'],
  ]),
  ...group('link', [
    ['Show keys and legend', 'help shortcuts keyboard glyphs status', 'help'],
    ['Open OpenAPI document', 'api schema json', { open: '/api/openapi.json' }],
    ['Open metrics', 'prometheus', { open: '/metrics' }],
    ['Open readiness', 'readyz ready', { open: '/readyz' }],
  ]),
];

function group(
  name: Choice['group'],
  rows: readonly [title: string, words: string, does: Choice['does']][],
): Choice[] {
  return rows.map(([title, words, does]) => ({ group: name, title, words, does }));
}
