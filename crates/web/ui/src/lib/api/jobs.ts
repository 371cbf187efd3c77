import type { Slice } from './accounts';
import { read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Job = Schemas['Job'];
export type JobStatus = Job['status'];
export type JobKind = Schemas['JobKind'];
export type JobSummary = Schemas['JobsSummary'];

const PATH = '/api/admin/jobs';
/** Few enough to be read every few seconds. */
export const JOBS_LIMIT = 100;

export function readJobs(
  asked: { readonly status: string; readonly kind: string },
  cursor: string | null,
): Promise<Answer<Slice<Job>>> {
  return read(listPath(PATH, { ...asked, cursor }, JOBS_LIMIT), isSlice<Job>);
}

/** Those whose heartbeat is older than their lease allows. */
export function readStuckJobs(cursor: string | null): Promise<Answer<Slice<Job>>> {
  return read(listPath(`${PATH}/stuck`, { cursor }, JOBS_LIMIT), isSlice<Job>);
}

export function readJobSummary(): Promise<Answer<JobSummary>> {
  return read(`${PATH}/summary`, isSummary);
}

export function retryJob(id: string): Promise<Answer<Job>> {
  return write('POST', `${PATH}/${encodeURIComponent(id)}/retry`, undefined, isJob);
}

export function cancelJob(id: string): Promise<Answer<Job>> {
  return write('POST', `${PATH}/${encodeURIComponent(id)}/cancel`, undefined, isJob);
}

export function pauseKind(kind: string): Promise<Answer<JobKind>> {
  return write('POST', `${PATH}/kinds/${encodeURIComponent(kind)}/pause`, undefined, isKind);
}

export function resumeKind(kind: string): Promise<Answer<JobKind>> {
  return write('POST', `${PATH}/kinds/${encodeURIComponent(kind)}/resume`, undefined, isKind);
}

function isJob(body: Body): body is Body & Job {
  return typeof body['id'] === 'string' && typeof body['status'] === 'string';
}

function isKind(body: Body): body is Body & JobKind {
  return typeof body['kind'] === 'string';
}

function isSummary(body: Body): body is Body & JobSummary {
  return Array.isArray(body['kinds']);
}
