import { read, type Answer, type Body } from './client';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Instance = Schemas['Instance'];
export type InstanceList = Schemas['InstanceList'];

/** Who polls what. There are few, so that they come as a whole. */
export function readInstances(): Promise<Answer<InstanceList>> {
  return read('/api/instances', isList);
}

function isList(body: Body): body is Body & InstanceList {
  return Array.isArray(body['items']);
}
