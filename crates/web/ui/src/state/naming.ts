import { changeAlias, createAlias, readAliases, type Alias } from '../lib/api/aliases';
import type { Failure } from '../lib/api/client';

/** More pages of aliases than these are not looked through. */
const MOST_PAGES = 20;

/**
 * Makes reported names stand for another one, whatever they stood for; says why it failed, or null. What
 * was done stays done when a later one is refused.
 */
export async function nameAll(reported: readonly string[], canonical: string): Promise<Failure | null> {
  for (const alias of reported.filter((name) => name !== canonical)) {
    const answer = await createAlias({ alias, canonical_name: canonical });
    if (answer.ok) continue;
    const taken = answer.failure.code === 'alias_taken' ? await find(alias) : null;
    if (taken === null) return answer.failure;
    const changed = await changeAlias(taken.id, { alias, canonical_name: canonical });
    if (!changed.ok) return changed.failure;
  }
  return null;
}

async function find(name: string): Promise<Alias | null> {
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await readAliases(cursor);
    if (!answer.ok) return null;
    const found = answer.value.items.find(({ alias }) => alias === name);
    if (found !== undefined) return found;
    cursor = answer.value.next_cursor;
    if (cursor === null) return null;
  }
  return null;
}
