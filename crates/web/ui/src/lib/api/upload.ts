import { currentSession, parse, refused, unreachable, unreadable, type Answer, type Failure } from './client';
import type { TimeWindow } from './files';

/** An upload that is under way. */
export interface Sending {
  /** The id of the file that was made; null when it was cancelled. */
  readonly done: Promise<Answer<string> | null>;
  readonly cancel: () => void;
}

const PATH = '/api/files/upload';
/** A little longer than the server's own limit, so that its words come first. */
export const UPLOAD_TIMEOUT_MS = 330_000;

/** Sends a transcript. Not by `fetch`, which does not tell how far it is. */
export function sendFile(
  file: File,
  window: TimeWindow | null,
  progress: (part: number) => void,
): Sending {
  const request = new XMLHttpRequest();
  const session = currentSession();
  const done = new Promise<Answer<string> | null>((resolve) => {
    const sentAt = Date.now();
    const fail = (failure: Failure) => {
      resolve({ ok: false, failure });
    };
    request.upload.onprogress = ({ loaded, total }) => {
      progress(total > 0 ? loaded / total : 0);
    };
    request.onload = () => {
      resolve(answerOf(request, session, sentAt));
    };
    request.onerror = () => {
      fail(unreachable);
    };
    request.ontimeout = () => {
      fail(tooSlow);
    };
    request.onabort = () => {
      resolve(null);
    };
    request.open('POST', PATH);
    request.timeout = UPLOAD_TIMEOUT_MS;
    request.send(formOf(file, window));
  });
  return {
    done,
    cancel: () => {
      request.abort();
    },
  };
}

/** The times stand first: what is wrong with them is said before the file is sent. */
function formOf(file: File, window: TimeWindow | null): FormData {
  const form = new FormData();
  if (window !== null) {
    form.set('from', window.from);
    form.set('to', window.to);
  }
  form.set('file', file, file.name);
  return form;
}

function answerOf(request: XMLHttpRequest, session: number, sentAt: number): Answer<string> {
  const body = parse(request.responseText);
  if (request.status !== 201) {
    const wait = request.getResponseHeader('Retry-After');
    const headers = wait === null ? {} : { 'Retry-After': wait };
    return refused(new Response(null, { status: request.status, headers }), body, session);
  }
  const id = body?.['file_id'];
  if (typeof id !== 'string') return { ok: false, failure: unreadable(PATH) };
  return { ok: true, value: id, sentAt, gotAt: Date.now() };
}

const tooSlow: Failure = {
  ...unreachable,
  title: 'The upload took too long',
  detail: `It was given up after ${String(UPLOAD_TIMEOUT_MS / 1_000)} seconds. Try again on a better line.`,
};
