import {
  currentSession,
  parse,
  READ_TIMEOUT_MS,
  refused,
  slow,
  unreachable,
  unreadable,
  type Answer,
  type Check,
} from './client';

/** A value with the tag by which the server knows it. */
export interface Tagged<Value> {
  readonly tag: string | null;
  readonly value: Value;
}

/**
 * Reads what may be large only when it is another than the one with this tag: null when it is not,
 * and when nobody wants the answer any more.
 */
export async function readTagged<Value>(
  path: string,
  tag: string | null,
  isValue: Check<Value>,
  unwanted?: AbortSignal,
): Promise<Answer<Tagged<Value> | null>> {
  const sentAt = Date.now();
  const session = currentSession();
  const nothing = () => ({ ok: true, value: null, sentAt, gotAt: Date.now() }) as const;
  const abort = new AbortController();
  const end = () => {
    abort.abort();
  };
  const timer = setTimeout(end, READ_TIMEOUT_MS);
  unwanted?.addEventListener('abort', end);
  try {
    const headers = tag === null ? {} : { 'If-None-Match': tag };
    const response = await fetch(path, { cache: 'no-store', headers, signal: abort.signal });
    if (response.status === 304) return nothing();
    const body = parse(await response.text());
    if (!response.ok) return refused(response, body, session);
    if (body === null || !isValue(body)) return { ok: false, failure: unreadable(path) };
    const value = { tag: response.headers.get('ETag'), value: body };
    return { ok: true, value, sentAt, gotAt: Date.now() };
  } catch {
    if (unwanted?.aborted === true) return nothing();
    const failure = abort.signal.aborted ? slow('GET', READ_TIMEOUT_MS) : unreachable;
    return { ok: false, failure };
  } finally {
    clearTimeout(timer);
    unwanted?.removeEventListener('abort', end);
  }
}
