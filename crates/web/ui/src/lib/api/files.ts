import type { Slice } from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

/** A transcript that was uploaded, and where its report stands. */
export type Transcript = Schemas['File'];
export type TimeWindow = Schemas['Window'];
export type ReportsState = Schemas['ReportsState'];
export type Report = Schemas['Report'];
export type Share = Schemas['Share'];
export type MadeShare = Schemas['MadeShare'];

/** What the person's own stream tells of files. */
export const FILE_EVENTS = ['file_state_changed', 'report_ready', 'report_failed', 'file_removed'];

const PATH = '/api/files';

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** Whether reports can be made, and of what. */
export function readReportsState(): Promise<Answer<ReportsState>> {
  return read('/api/reports', isState);
}

export function readFiles(cursor: string | null, limit: number): Promise<Answer<Slice<Transcript>>> {
  return read(listPath(PATH, { cursor }, limit), isSlice<Transcript>);
}

export function readFile(id: string): Promise<Answer<Transcript>> {
  return read(pathOf(id), isFile);
}

export function readReport(id: string): Promise<Answer<Report>> {
  return read(`${pathOf(id)}/report`, isReport);
}

export function retryFile(id: string): Promise<Answer<Transcript>> {
  return write('POST', `${pathOf(id)}/retry`, undefined, isFile);
}

export function deleteFile(id: string): Promise<Answer<null>> {
  return change('DELETE', pathOf(id));
}

export function readShares(id: string): Promise<Answer<Slice<Share>>> {
  return read(`${pathOf(id)}/shares`, isSlice<Share>);
}

export function createShare(id: string, seconds: number): Promise<Answer<MadeShare>> {
  return write('POST', `${pathOf(id)}/shares`, { expires_in: seconds } satisfies Schemas['NewShare'], isMadeShare);
}

export function revokeShare(id: string, share: string): Promise<Answer<null>> {
  return change('DELETE', `${pathOf(id)}/shares/${encodeURIComponent(share)}`);
}

/** The report that a link of somebody else's leads to. */
export function readShared(token: string): Promise<Answer<Report>> {
  return read(`/api/shares/${encodeURIComponent(token)}`, isReport);
}

function isState(body: Body): body is Body & ReportsState {
  return typeof body['configured'] === 'boolean' && Array.isArray(body['extensions']);
}

function isFile(body: Body): body is Body & Transcript {
  return typeof body['id'] === 'string' && typeof body['status'] === 'string';
}

function isReport(body: Body): body is Body & Report {
  return typeof body['file_id'] === 'string' && typeof body['report'] === 'object';
}

function isMadeShare(body: Body): body is Body & MadeShare {
  return typeof body['link'] === 'string' && typeof body['item'] === 'object';
}
