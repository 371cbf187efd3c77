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
