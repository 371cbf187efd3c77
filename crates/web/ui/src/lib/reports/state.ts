import type { Transcript } from '../api/files';
import type { Status } from '../status';
import { secondsLeft, waitText } from '../wait';

/** How a report stands: a glyph, a word, and what there is to say beside it. */
export interface Standing {
  readonly glyph: Status;
  readonly word: string;
  readonly more: string;
}

/** As long as any pause between two tries. */
const WAIT_LIMIT_S = 7 * 86_400;

/** What a report that was put off waits for, by the word of it: that is no failure of its own. */
const WAITS_FOR: Readonly<Record<string, string>> = {
  llm_left_alone: 'waits for the language model',
  s3_left_alone: 'waits for the storage',
};

/** Failures in so few words that a list has room for them. */
const FAILED_BY: Readonly<Record<string, string>> = {
  llm_call_failed: 'by the model',
  schema_validation_failed: 'no report came',
  empty_original_transcript: 'no words in it',
  original_not_text: 'it is no text',
  s3_read_failed: 'by the storage',
  s3_write_failed: 'by the storage',
  s3_put_failed: 'by the storage',
  upload_interrupted: 'upload cut',
  enqueue_failed: 'upload cut',
  attempts_exhausted: 'tried too often',
  crash_loop: 'crashed too often',
  cancelled: 'cancelled',
  timed_out: 'took too long',
  panicked: 'a bug in Mainstay',
  file_missing: 'file deleted',
  database_failed: 'by the database',
  database_refused: 'by the database',
  timeline_read_failed: 'by the database',
};

type Known = Pick<
  Transcript,
  'status' | 'attempts' | 'max_attempts' | 'next_run_at' | 'queued_at' | 'last_error'
>;

/** Without a language model on the server nothing that is queued goes on, whatever was told of it. */
export function standingOf(file: Known, now: number, configured = true): Standing {
  switch (file.status) {
    case 'succeeded':
      return { glyph: 'healthy', word: 'ready', more: '' };
    case 'failed':
      return { glyph: 'down', word: 'failed', more: failedBy(file.last_error?.code ?? '') };
    case 'processing':
      return processing(file);
    case 'queued':
      return configured ? queued(file, now) : { glyph: 'degraded', word: 'waits for a language model', more: '' };
  }
}

/** All of it in one line: "processing, attempt 2 of 4". */
export function standingText(file: Known, now: number, configured = true): string {
  const { word, more } = standingOf(file, now, configured);
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

/** Whether what a file says last is what it waits for, and no failure. */
export function isPutOff({ last_error }: Pick<Transcript, 'last_error'>): boolean {
  return last_error !== null && waitsFor(last_error.code) !== null;
}

/** Whether trying again can help: a transcript that was never stored has to be sent again. */
export function canRetry({ status, queued_at }: Pick<Transcript, 'status' | 'queued_at'>, configured: boolean): boolean {
  return configured && status === 'failed' && queued_at !== null;
}

/** What can be done about a report that failed, in a sentence. */
export function remedyOf(file: Pick<Transcript, 'queued_at' | 'attempts'>, configured: boolean): string {
  if (file.queued_at === null) {
    return 'The transcript was never stored whole, so there is nothing to try again: upload it once more.';
  }
  const times = file.attempts === 1 ? 'once' : `${String(file.attempts)} times`;
  if (!configured) {
    return `It was tried ${times}. It can be tried again once this server has a language model.`;
  }
  return `It was tried ${times}, and is not tried again by itself.`;
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
  const awaited = last_error === null ? null : waitsFor(last_error.code);
  if (awaited !== null) return { glyph: 'degraded', word: awaited, more: waits };
  if (attempts === 0 || last_error === null) return { glyph: 'unknown', word: 'queued', more: waits };
  return { glyph: 'degraded', word: waits || 'queued again', more: '' };
}

function waitsFor(code: string): string | null {
  return Object.hasOwn(WAITS_FOR, code) ? (WAITS_FOR[code] ?? null) : null;
}

function failedBy(code: string): string {
  return Object.hasOwn(FAILED_BY, code) ? (FAILED_BY[code] ?? code) : code;
}
