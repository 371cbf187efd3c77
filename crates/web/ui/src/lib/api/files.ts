import type { Slice } from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';

export interface TimeWindow {
  readonly from: string;
  readonly to: string;
}

/** A transcript that was uploaded, and where its report stands. */
export interface Transcript {
  readonly id: string;
  readonly name: string;
  readonly size_bytes: number | null;
  readonly status: 'processing' | 'queued' | 'succeeded' | 'failed';
  readonly window: TimeWindow | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly next_run_at: string | null;
  readonly last_error: { readonly code: string; readonly message: string } | null;
  readonly made_with: MadeWith | null;
  readonly created_at: string;
  readonly queued_at: string | null;
  readonly started_at: string | null;
  readonly processed_at: string | null;
}

export interface MadeWith {
  readonly prompt_version: string;
  readonly schema_version: string;
  readonly model: string;
}

export interface ReportsState {
  readonly configured: boolean;
  readonly how_to_configure: string | null;
  readonly max_file_bytes: number;
  readonly extensions: readonly string[];
  readonly max_window_seconds: number;
}

export interface Report {
  readonly file_id: string;
  readonly file_name: string;
  readonly processed_at: string | null;
  readonly made_with: MadeWith | null;
  readonly report: unknown;
  readonly recorded_timeline: unknown;
}

export interface Share {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

export interface MadeShare {
  readonly link: string;
  readonly token: string;
  readonly item: Share;
}

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
  return write('POST', `${pathOf(id)}/shares`, { expires_in: seconds }, isMadeShare);
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
