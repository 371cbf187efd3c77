import { read, type Answer, type Body } from './client';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Now = Schemas['Now'];
export type NowCounts = Schemas['NowCounts'];
export type NowCause = Schemas['NowCause'];
export type NowHurt = Schemas['NowHurt'];

/** What is broken now, and how many services are how. */
export function readNow(): Promise<Answer<Now>> {
  return read('/api/now', isNow);
}

function isNow(body: Body): body is Body & Now {
  return Array.isArray(body['items']) && typeof body['counts'] === 'object';
}
