import type { Slice } from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Alias = Schemas['Alias'];
export type NewAlias = Schemas['NewAlias'];

export function readAliases(cursor: string | null): Promise<Answer<Slice<Alias>>> {
  return read(listPath('/api/aliases', { cursor }), isSlice<Alias>);
}

/** As many pages as are read of them. */
const MOST_PAGES = 25;

export async function readAllAliases(): Promise<Answer<readonly Alias[]>> {
  const all: Alias[] = [];
  let answer = await readAliases(null);
  for (let page = 1; answer.ok; page += 1) {
    all.push(...answer.value.items);
    const cursor = answer.value.next_cursor ?? null;
    if (cursor === null || page === MOST_PAGES) return { ...answer, value: all };
    answer = await readAliases(cursor);
  }
  return answer;
}

export function createAlias(alias: NewAlias): Promise<Answer<Alias>> {
  return write('POST', '/api/aliases', alias, isAlias);
}

export function changeAlias(id: string, to: NewAlias): Promise<Answer<Alias>> {
  return write('PATCH', one(id), to, isAlias);
}

export function deleteAlias(id: string): Promise<Answer<null>> {
  return change('DELETE', one(id));
}

const one = (id: string) => `/api/aliases/${encodeURIComponent(id)}`;

function isAlias(body: Body): body is Body & Alias {
  return typeof body['id'] === 'string' && typeof body['alias'] === 'string';
}
