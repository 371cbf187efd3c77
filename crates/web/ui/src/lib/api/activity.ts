import type { Slice } from './accounts';
import { read, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Change = Schemas['ActivityItem'];
export type Moment = Schemas['Moment'];
export type Moments = Schemas['Moments'];
export type Unstable = Schemas['Unstable'];
export type UnstableList = Schemas['UnstableList'];

/** What narrows the changes; what is empty does not. */
export interface AskedChanges {
  readonly q: string;
  readonly status: string;
  readonly of: string;
  readonly service: string;
}

export function readActivity(
  asked: Partial<AskedChanges>,
  cursor: string | null,
  limit: number,
): Promise<Answer<Slice<Change>>> {
  return read(listPath('/api/activity', { ...asked, cursor }, limit), isSlice<Change>);
}

/** The last moments at which something changed, newest first. */
export function readMoments(): Promise<Answer<Moments>> {
  return read('/api/activity/moments', isMoments);
}

/** Who changed most often in the last day. */
export function readUnstable(limit: number): Promise<Answer<UnstableList>> {
  return read(`/api/activity/unstable?limit=${String(limit)}`, isUnstable);
}

function isMoments(body: Body): body is Body & Moments {
  return Array.isArray(body['items']);
}

function isUnstable(body: Body): body is Body & UnstableList {
  return Array.isArray(body['items']);
}
