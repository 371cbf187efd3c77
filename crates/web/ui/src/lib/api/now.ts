import { read, type Answer, type Body } from './client';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Now = Schemas['Now'];
export type NowCounts = Schemas['NowCounts'];
export type NowCause = Schemas['NowCause'];
export type NowHurt = Schemas['NowHurt'];
export type Wallboard = Schemas['Wallboard'];
export type WallGroup = Schemas['WallGroup'];

/** What is broken now, and how many services are how. */
export function readNow(): Promise<Answer<Now>> {
  return read('/api/now', isNow);
}

/** What everything leans on, by name, the worst first. */
export function readWallboard(): Promise<Answer<Wallboard>> {
  return read('/api/wallboard', isWallboard);
}

function isNow(body: Body): body is Body & Now {
  return Array.isArray(body['items']) && typeof body['counts'] === 'object';
}

function isWallboard(body: Body): body is Body & Wallboard {
  return Array.isArray(body['items']) && typeof body['total'] === 'number';
}
