import { STATUSES } from './status';

/** What the changes can be narrowed to, each by the word that stands in the address. */
export const CHANGE_KINDS = { service: 'Services', dependency: 'Dependencies' } as const;

export function isChangeKind(word: string): word is keyof typeof CHANGE_KINDS {
  return Object.hasOwn(CHANGE_KINDS, word);
}

export function isChangeStatus(word: string): boolean {
  return STATUSES.some((status) => status === word);
}
