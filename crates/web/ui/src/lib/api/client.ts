import type { components } from './schema';

type System = components['schemas']['System'];
export type Body = Record<string, unknown>;
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
/** Whether a body is enough to draw: a proxy's own JSON, or a server of another age, is not. */
export type Check<Value> = (body: Body) => body is Body & Value;

/** Why there is no answer, in words that a person can act on. */
export interface Failure {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** The server's stable word for the case; null when it was not the server that said no. */
  readonly code: string | null;
  /** The answer's status; null when there was none. */
  readonly status: number | null;
  /** What of the request is wrong, where the server named it: `definition.services[0].url`. */
  readonly field?: string;
  /** Seconds until another try may succeed, when the server named them. */
  readonly retryAfter: number | null;
}

/** What a change is sent with beside its body. */
export interface Sent {
  /** Only if it still is of this generation. */
  readonly match?: number;
  readonly limit?: number;
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value; readonly sentAt: number; readonly gotAt: number }
  | { readonly ok: false; readonly failure: Failure };

/** Shorter than the time after which data counts as stale, so that a hung read is seen before. */
export const READ_TIMEOUT_MS = 10_000;
/** Longer: a password is hashed on purpose slowly, and behind a gate. */
export const WRITE_TIMEOUT_MS = 20_000;
/** What waits for machines: a little longer than the server itself waits. */
export const MACHINE_TIMEOUT_MS = 32_000;
/** A longer wait than a day is no wait but a mistake. */
export const RETRY_AFTER_LIMIT_S = 86_400;

export function readSystem(): Promise<Answer<System>> {
  return read('/api/system', isSystem);
}

/** Reads something; `unwanted` ends it when nobody waits for it any more. */
export function read<Value>(
  path: string,
  isValue: Check<Value>,
  unwanted?: AbortSignal,
): Promise<Answer<Value>> {
  return ask('GET', path, undefined, bodyOf(path, isValue), { unwanted });
}

/** A value with the tag by which the server knows it. */
export interface Tagged<Value> {
  readonly tag: string | null;
  readonly value: Value;
}

/** Reads what may be large only when it is another than the one with this tag: null when it is not. */
export function readTagged<Value>(
  path: string,
  tag: string | null,
  isValue: Check<Value>,
): Promise<Answer<Tagged<Value> | null>> {
  const reading = bodyOf(path, isValue);
  const tagged: Reading<Tagged<Value> | null> = (body, response) => {
    // Only who has a tag is told that nothing changed.
    if (response.status === 304 && tag !== null) return { value: null };
    const result = reading(body, response);
    if (!('value' in result)) return result;
    return { value: { tag: response.headers.get('ETag'), value: result.value } };
  };
  return ask('GET', path, undefined, tagged, { tag });
}

/** Reads by tag what is read again and again: what has not changed is the same value as before. */
export function keeping<Value>(
  isValue: Check<Value>,
): (path: string) => Promise<Answer<Value>> {
  let last: (Tagged<Value> & { readonly path: string }) | null = null;
  return async (path) => {
    const known = last?.path === path ? last : null;
    const answer = await readTagged(path, known?.tag ?? null, isValue);
    if (!answer.ok) return answer;
    const { value: came } = answer;
    if (came !== null) last = { ...came, path };
    const value = came?.value ?? known?.value;
    return value === undefined ? { ok: false, failure: unreadable(path) } : { ...answer, value };
  };
}

/** A change that is answered with a body. */
export function write<Value>(
  method: Exclude<Method, 'GET'>,
  path: string,
  body: object | undefined,
  isValue: Check<Value>,
  sent: Sent = {},
): Promise<Answer<Value>> {
  return ask(method, path, body, bodyOf(path, isValue), sent);
}

/** A change whose answer is that it was done. */
export function change(
  method: Exclude<Method, 'GET'>,
  path: string,
  body?: object,
  sent: Sent = {},
): Promise<Answer<null>> {
  return ask(method, path, body, () => ({ value: null }), sent);
}

/** Removes something; says whether it is gone, or still on its way out. */
export function remove(path: string, sent: Sent = {}): Promise<Answer<boolean>> {
  return ask('DELETE', path, undefined, (_, { status }) => ({ value: status !== 202 }), sent);
}

let signedOut: () => void = () => undefined;

/** Names what happens when the server no longer knows who asks. */
export function whenSignedOut(handler: () => void): void {
  signedOut = handler;
}

let sessions = 0;

/** Which of the sessions that were begun on this page is asked with now. */
export function currentSession(): number {
  return sessions;
}

/** A session was begun on this page: what is still to come for the one before it says nothing of it. */
export function noteSignedIn(): void {
  sessions += 1;
}

/** Told by whatever hears it elsewhere than in an answer. */
export function noteSignedOut(session: number): void {
  if (session === sessions) signedOut();
}

type Reading<Value> = (
  body: Body | null,
  response: Response,
) => { readonly value: Value } | Failure;

interface Asking extends Sent {
  readonly tag?: string | null;
  readonly unwanted?: AbortSignal | undefined;
}

async function ask<Value>(
  method: Method,
  path: string,
  body: object | undefined,
  reading: Reading<Value>,
  { tag = null, unwanted, match, limit = method === 'GET' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS }: Asking = {},
): Promise<Answer<Value>> {
  const abort = new AbortController();
  const end = () => {
    abort.abort();
  };
  const timer = setTimeout(end, limit);
  unwanted?.addEventListener('abort', end);
  const session = currentSession();
  try {
    const sentAt = Date.now();
    const response = await fetch(path, { ...init(method, body, tag, match), signal: abort.signal });
    const answered = parse(await response.text());
    if (!response.ok && response.status !== 304) return refused(response, answered, session);
    const result = reading(answered, response);
    if (!('value' in result)) return { ok: false, failure: result };
    return { ok: true, value: result.value, sentAt, gotAt: Date.now() };
  } catch {
    return { ok: false, failure: abort.signal.aborted ? slow(method, limit) : unreachable };
  } finally {
    clearTimeout(timer);
    unwanted?.removeEventListener('abort', end);
  }
}

function init(
  method: Method,
  body: object | undefined,
  tag: string | null,
  match: number | undefined,
): RequestInit {
  const headers: Record<string, string> = {
    ...(tag === null ? {} : { 'If-None-Match': tag }),
    ...(match === undefined ? {} : { 'If-Match': String(match) }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  return { method, cache: 'no-store', headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
}

/** What an answer that is no success tells, to a request that was sent in this session. */
export function refused(
  response: Response,
  body: Body | null,
  session: number,
): { ok: false; failure: Failure } {
  const failure = {
    ...refusal(response.status, body),
    retryAfter: retryAfter(response.headers.get('Retry-After'), Date.now()),
  };
  if (!isSignedOut(failure)) return { ok: false, failure };
  noteSignedOut(session);
  return { ok: false, failure: { ...failure, ...SIGNED_OUT } };
}

/** Whether the server did not know who asked. */
export function isSignedOut({ status, code }: Partial<Failure>): boolean {
  return status === 401 && code === 'unauthenticated';
}

/** Whether another try may do what this one did not: nobody answered, or the server could not just then. */
export function isPassing({ status }: Failure): boolean {
  return status === null || status >= 500;
}

/** What the server says of it is for those who write programs. */
const SIGNED_OUT = {
  title: 'Your session has ended',
  detail: 'Sign in, and try again.',
};

/** The server's own words, when it gave some. */
export function refusal(status: number, body: Body | null): Failure {
  const word = (name: string) => {
    const value = body?.[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const field = word('field');
  return {
    ...(field === null ? {} : { field }),
    title: word('error') ?? `The server answered with status ${String(status)}`,
    detail: word('detail') ?? "It gave no reason. The server's log has more.",
    requestId: word('request_id'),
    code: word('code'),
    status,
    retryAfter: null,
  };
}

/** The seconds of a `Retry-After`, which holds a number of them or a date. */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = /^\s*\d+\s*$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - now) / 1000);
  if (Number.isNaN(seconds)) return null;
  return Math.min(Math.max(seconds, 0), RETRY_AFTER_LIMIT_S);
}

export function parse(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return value as Body;
  } catch {
    return null;
  }
}

function bodyOf<Value>(path: string, isValue: Check<Value>): Reading<Value> {
  return (body) => (body !== null && isValue(body) ? { value: body } : unreadable(path));
}

function isSystem(body: Body): body is Body & System {
  return Array.isArray(body['checks']) && typeof body['database'] === 'object';
}

function failed(title: string, detail: string): Failure {
  return { title, detail, requestId: null, code: null, status: null, retryAfter: null };
}

export const unreachable = failed(
  'The server cannot be reached',
  'Mainstay may be stopped, or the network between it and this browser is down.',
);

function slow(method: Method, limit: number): Failure {
  const said = `It was asked and said nothing for ${String(limit / 1000)} seconds.`;
  // A change may have been made all the same.
  const look = method === 'GET' ? '' : ' Look whether it was done before you try again.';
  return failed('The server did not answer in time', said + look);
}

export function unreadable(path: string): Failure {
  return failed(
    'The answer is not from Mainstay',
    `What came for ${path} cannot be read. A proxy in between may be set up wrongly.`,
  );
}
