import type { Job, JobStatus } from '../../lib/api/jobs';
import { at, type Route } from '../../lib/route';
import { grouped, span } from '../../lib/time';

/** What the list can be narrowed to; a stuck one is also running. */
export const JOB_VIEWS = ['queued', 'processing', 'stuck', 'failed', 'succeeded'] as const;
export type JobView = (typeof JOB_VIEWS)[number];

/** The words a person would use. */
export const VIEW_TITLES: Record<JobView, string> = {
  queued: 'Queued',
  processing: 'Running',
  stuck: 'Stuck',
  failed: 'Failed',
  succeeded: 'Done',
};

const STATUS_WORDS: Record<JobStatus, string> = {
  queued: 'queued',
  processing: 'running',
  succeeded: 'done',
  failed: 'failed',
};

export function statusWord({ status, stuck }: Job): string {
  return stuck ? 'stuck' : STATUS_WORDS[status];
}

/** A word in the address that is no view narrows nothing. */
export function viewOf(word: string | undefined): JobView | null {
  return JOB_VIEWS.find((view) => view === word) ?? null;
}

/** What there is to say about a job in one line: how it stands, or what went wrong. */
export function news(job: Job): string {
  const error = [job.last_error_code, job.last_error_message].filter(Boolean).join(': ');
  if (job.status === 'processing') return job.locked_by === null ? '' : `on ${job.locked_by}`;
  return job.status === 'succeeded' ? '' : error;
}

/** The time that matters for a job as it stands, and what that time is. */
export function moves(job: Job): { readonly at: string | null; readonly what: string } {
  switch (job.status) {
    case 'queued':
      return { at: job.next_run_at, what: 'due' };
    case 'processing':
      return { at: job.heartbeat_at, what: 'heartbeat' };
    default:
      return { at: job.finished_at, what: 'ended' };
  }
}

/** What each kind of Mainstay's own does, in a few words. */
const KIND_NAMES: Readonly<Partial<Record<string, string>>> = {
  clean_up_accounts: 'Clearing up accounts',
  clean_up_locations: 'Clearing up what nets found',
  fleet_operation: 'Change of the fleet',
  journey: 'Run of a journey',
  mail: 'Mail',
  monitor_keyframes: 'State of the day',
  monitor_latency_rollups: 'Summing up latencies',
  report: 'Incident report',
  sweep_reports: 'Clearing up reports',
};

/** What a kind is called; one that is not known goes by its own name. */
export function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? kind;
}

/** What the dashboard knows by a name, by its id. */
export interface KnownNames {
  readonly journey: (id: string) => string | undefined;
  readonly worker: (id: string) => string | undefined;
  readonly net: (id: string) => string | undefined;
  readonly file: (id: string) => string | undefined;
}

/** What a job is about, and where that is shown. */
export interface About {
  /** Empty where the kind says all. */
  readonly text: string;
  /** Null for what is not known, or has no page. */
  readonly leads: Route | null;
}

type JobSubject = Pick<Job, 'kind' | 'subject'>;

export function aboutOf({ kind, subject }: JobSubject, known: KnownNames): About {
  if (subject === null) return { text: '', leads: null };
  if (subject.startsWith('cron:')) return { text: 'on schedule', leads: null };
  const [what, id] = thingOf(kind, subject);
  if (what === null) return { text: subject, leads: null };
  const name = known[what](id);
  return name === undefined ? { text: `${what} …${id.slice(-ID_TAIL)}`, leads: null } : { text: name, leads: LEADS[what](id) };
}

/** What a job is called where it stands alone. */
export function jobName(job: JobSubject, known: KnownNames): string {
  return `${kindName(job.kind)} ${aboutOf(job, known).text}`.trim();
}

/** Ids of one time begin alike: their ends tell them apart. */
const ID_TAIL = 8;
const LEADS: Readonly<Record<keyof KnownNames, (id: string) => Route>> = {
  journey: (id) => at('journey', { id }),
  worker: (id) => ({ ...at('fleet'), row: id, inspector: true }),
  net: (id) => ({ ...at('nets'), row: id, inspector: true }),
  file: (id) => at('report', { id }),
};

function thingOf(kind: string, subject: string): readonly [keyof KnownNames | null, string] {
  if (kind === 'journey') return ['journey', subject];
  if (kind === 'report') return ['file', subject];
  const [what = '', id] = subject.split(':');
  return (what === 'worker' || what === 'net') && id !== undefined ? [what, id] : [null, subject];
}

/** A count of the server's, which stops counting at a cap: "1 000+". */
export function atMost(count: number, cap: number): string {
  return count >= cap ? `${grouped(cap)}+` : grouped(count);
}

/** "2 of 4"; what was not tried yet has none. */
export function attempts({ attempts, max_attempts }: Job): string {
  return `${String(attempts)} of ${String(max_attempts)}`;
}

export function waited(seconds: number | null): string {
  return seconds === null ? '–' : span(Math.max(seconds, 0) * 1000);
}

export function canRetry({ status, archived }: Job): boolean {
  return status === 'failed' && !archived;
}

export function canCancel({ status }: Job): boolean {
  return status === 'queued' || status === 'processing';
}

/** What stands where the list would. */
export function noneText(view: JobView | null): string {
  return view === null ? 'Nothing was queued yet.' : NONE[view];
}

const NONE: Record<JobView, string> = {
  queued: 'No job waits.',
  processing: 'No job runs now.',
  stuck: 'No job is stuck.',
  failed: 'No job has failed.',
  succeeded: 'No job was done lately.',
};
