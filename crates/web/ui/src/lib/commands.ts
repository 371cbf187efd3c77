import type { Command } from './keys';

/** What the palette can do beside what has a key. */
export type Action = Command | 'copy-link' | 'read-now' | `theme-${'system' | 'light' | 'dark'}`;

export interface Choice {
  readonly title: string;
  readonly words: string;
  readonly does: Action | { readonly open: string };
}

/** The palette's whole content, in the order in which an empty search shows it. */
export const CHOICES: readonly Choice[] = [
  { title: 'Go to Now', words: 'home start root causes', does: 'go-now' },
  { title: 'Go to System', words: 'health checks version database', does: 'go-system' },
  { title: 'Copy link to this view', words: 'url address share paste', does: 'copy-link' },
  { title: 'Read again now', words: 'refresh reload update', does: 'read-now' },
  { title: 'Theme: system', words: 'appearance automatic', does: 'theme-system' },
  { title: 'Theme: light', words: 'appearance day', does: 'theme-light' },
  { title: 'Theme: dark', words: 'appearance night', does: 'theme-dark' },
  { title: 'Switch density', words: 'compact comfortable rows', does: 'density' },
  { title: 'Show keys and legend', words: 'help shortcuts keyboard glyphs status', does: 'help' },
  { title: 'Open OpenAPI document', words: 'api schema json', does: { open: '/api/openapi.json' } },
  { title: 'Open metrics', words: 'prometheus', does: { open: '/metrics' } },
  { title: 'Open readiness', words: 'readyz ready', does: { open: '/readyz' } },
];
