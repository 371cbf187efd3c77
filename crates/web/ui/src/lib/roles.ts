import type { RequestStatus, Role, Scope } from './api/accounts';

/** One entry of a list to choose from. */
export interface Option {
  readonly value: string;
  readonly title: string;
  /** Shown, but can't be chosen. */
  readonly off?: boolean;
}

export const ROLES: readonly Role[] = ['viewer', 'editor', 'admin'];
export const ROLE_MEANS: Record<Role, string> = {
  viewer: 'sees what is watched, makes reports, and changes nothing but what is their own',
  editor: 'also changes what is watched, and has workers and nets',
  admin: 'also decides who may do what',
};

export const SCOPES: readonly Scope[] = ['read', 'write', 'agent'];
export const SCOPE_MEANS: Record<Scope, string> = {
  read: 'Reads what you may read',
  write: 'Reads and changes what you may change',
  agent: "Speaks for a worker's agent, and nothing else",
};

export const REQUEST_STATUSES: readonly RequestStatus[] = [
  'new',
  'contacted',
  'approved',
  'rejected',
];

/** How long a new token lives, in days; the empty one is for ever. */
export const LIFETIMES: readonly Option[] = [
  { value: '7', title: '7 days' },
  { value: '30', title: '30 days' },
  { value: '90', title: '90 days' },
  { value: '365', title: '1 year' },
  { value: '', title: 'Never' },
];
export const DEFAULT_LIFETIME = '90';

export const options = (words: readonly string[]): Option[] =>
  words.map((value) => ({ value, title: value }));

/** A word with its article: "a viewer", "an admin". */
export function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}
