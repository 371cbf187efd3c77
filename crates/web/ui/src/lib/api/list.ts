import type { Slice } from './accounts';
import type { Body } from './client';

/** The most that one answer holds. */
export const LIST_LIMIT = 200;

/** The address of one page of a list; what is empty is left out. */
export function listPath(path: string, asked: Record<string, string | null>, limit = LIST_LIMIT) {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(asked)) {
    if (value !== null && value !== '') query.set(name, value);
  }
  return `${path}?${query.toString()}`;
}

export function isSlice<Item>(body: Body): body is Body & Slice<Item> {
  return Array.isArray(body['items']);
}
