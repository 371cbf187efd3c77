import type { Slice } from './accounts';
import type { Answer, Body } from './client';

/** The most that one answer holds. */
export const LIST_LIMIT = 200;
/** A user has at most a thousand workers and as many nets; of what there is more, these are enough. */
const MOST_PAGES = 6;

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

/** All pages of a list. */
export async function readAll<Item>(
  ask: (cursor: string | null) => Promise<Answer<Slice<Item>>>,
): Promise<Answer<readonly Item[]>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let page = 1; ; page += 1) {
    const answer: Answer<Slice<Item>> = await ask(cursor);
    if (!answer.ok) return answer;
    items.push(...answer.value.items);
    cursor = answer.value.next_cursor ?? null;
    if (cursor === null || page === MOST_PAGES) return { ...answer, value: items };
  }
}
