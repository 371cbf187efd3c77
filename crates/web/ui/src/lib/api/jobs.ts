import type { Slice } from './accounts';
import { read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';

export type JobStatus = 'queued' | 'processing' | 'succeeded' | 'failed';

/** One unit of background work. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly subject: string | null;
  readonly status: JobStatus;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly crashes: number;
  readonly created_at: string;
  readonly next_run_at: string;
  readonly locked_at: string | null;
  readonly locked_by: string | null;
  readonly heartbeat_at: string | null;
  readonly lock_ttl_seconds: number | null;
  readonly stuck: boolean;
  readonly last_error_code: string | null;
  readonly last_error_message: string | null;
  readonly finished_at: string | null;
  /** It has left the queue by age, and can't be tried again. */
  readonly archived: boolean;
}

/** How much there is of one kind, and how long the oldest that is due has waited. */
export interface JobKind {
  readonly kind: string;
  readonly paused: boolean;
  readonly concurrency: number | null;
  readonly queued: number;
  readonly due: number;
  readonly processing: number;
  readonly failed: number;
  readonly succeeded: number;
  readonly oldest_due_seconds: number | null;
}

export interface JobSummary {
  readonly kinds: readonly JobKind[];
  readonly stuck: number;
  /** Where counts stop: one that large may be larger. */
  readonly count_cap: number;
}

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
