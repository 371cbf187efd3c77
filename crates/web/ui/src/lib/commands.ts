import type { Command } from './keys';

/** What the palette can do beside what has a key. */
export type Action = Command | 'copy-link' | 'read-now' | `theme-${'system' | 'light' | 'dark'}`;

export interface Choice {
  /** What belongs together stands together while nothing is typed. */
  readonly group: 'page' | 'action' | 'look' | 'link';
  readonly title: string;
  readonly words: string;
  readonly does: Action | { readonly open: string };
}

/** The palette's whole content, in the order in which an empty search shows it. */
export const CHOICES: readonly Choice[] = [
  ...group('page', [
    ['Go to Now', 'home start root causes', 'go-now'],
    ['Go to System', 'health checks version database', 'go-system'],
  ]),
  ...group('action', [
    ['Copy link to this view', 'url address share paste', 'copy-link'],
    ['Read again now', 'refresh reload update', 'read-now'],
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
