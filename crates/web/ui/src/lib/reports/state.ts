import type { Transcript } from '../api/files';
import type { Status } from '../status';
import { secondsLeft, waitText } from '../wait';

/** How a report stands: a glyph, a word, and what there is to say beside it. */
export interface Standing {
  readonly glyph: Status;
  readonly word: string;
  readonly more: string;
}

/** Longer than any pause between two tries. */
const WAIT_LIMIT_S = 86_400;

type Known = Pick<
  Transcript,
  'status' | 'attempts' | 'max_attempts' | 'next_run_at' | 'queued_at' | 'last_error'
>;

export function standingOf(file: Known, now: number): Standing {
  switch (file.status) {
    case 'succeeded':
      return { glyph: 'healthy', word: 'ready', more: '' };
    case 'failed':
      return { glyph: 'down', word: 'failed', more: file.last_error?.code ?? '' };
    case 'processing':
      return processing(file);
    case 'queued':
      return queued(file, now);
  }
}

/** All of it in one line: "processing, attempt 2 of 4". */
export function standingText(file: Known, now: number): string {
  const { word, more } = standingOf(file, now);
  return more === '' ? word : `${word}, ${more}`;
}

/** What a change is said aloud as; null for what is no news. */
export function newsOf(before: Transcript['status'] | undefined, file: Transcript): string | null {
  if (before === undefined || before === file.status) return null;
  switch (file.status) {
    case 'succeeded':
      return `The report of ${file.name} is ready.`;
    case 'failed':
      return `The report of ${file.name} failed.`;
    case 'processing':
      return `The report of ${file.name} is being made.`;
    case 'queued':
      return `The report of ${file.name} is queued.`;
  }
}

/** Whether trying again can help: a transcript that was never stored has to be sent again. */
export function canRetry({ status, queued_at }: Pick<Transcript, 'status' | 'queued_at'>): boolean {
  return status === 'failed' && queued_at !== null;
}

/** Whether something is still to come by itself. */
export function isUnderWay({ status }: Pick<Transcript, 'status'>): boolean {
  return status === 'queued' || status === 'processing';
}

function processing({ attempts, max_attempts, queued_at }: Known): Standing {
  if (queued_at === null) return { glyph: 'unknown', word: 'uploading', more: '' };
  const more = attempts > 1 ? `attempt ${String(attempts)} of ${String(max_attempts)}` : '';
  return { glyph: 'unknown', word: 'processing', more };
}

function queued({ attempts, next_run_at, last_error }: Known, now: number): Standing {
  const due = Date.parse(next_run_at ?? '');
  const left = Number.isNaN(due) ? 0 : secondsLeft(due, now, WAIT_LIMIT_S);
  const waits = left > 0 ? `next try in ${waitText(left)}` : '';
  if (attempts === 0 || last_error === null) return { glyph: 'unknown', word: 'queued', more: waits };
  return { glyph: 'degraded', word: waits || 'queued again', more: '' };
}
