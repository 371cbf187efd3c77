import type { components } from './schema';

type System = components['schemas']['System'];
type Body = Record<string, unknown>;

/** Why there is no answer, in words that a person can act on. */
export interface Failure {
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value; readonly sentAt: number; readonly gotAt: number }
  | { readonly ok: false; readonly failure: Failure };

/** Shorter than the time after which data counts as stale, so that a hung read is seen before. */
export const READ_TIMEOUT_MS = 10_000;

export function readSystem(): Promise<Answer<System>> {
  return read('/api/system', isSystem);
}

async function read<Value>(
  path: string,
  isValue: (body: Body) => body is Body & Value,
): Promise<Answer<Value>> {
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort();
  }, READ_TIMEOUT_MS);
  try {
    const sentAt = Date.now();
    const response = await fetch(path, { signal: abort.signal, cache: 'no-store' });
    const text = await response.text();
    const body = parse(text);
    if (!response.ok) return { ok: false, failure: refusal(response.status, body) };
    if (body === null || !isValue(body)) return { ok: false, failure: unreadable(path) };
    return { ok: true, value: body, sentAt, gotAt: Date.now() };
  } catch {
    return { ok: false, failure: abort.signal.aborted ? slow : unreachable };
  } finally {
    clearTimeout(timer);
  }
}

/** The server's own words, when it gave some. */
export function refusal(status: number, body: Body | null): Failure {
  const word = (name: string) => {
    const value = body?.[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return {
    title: word('error') ?? `The server answered with status ${String(status)}`,
    detail: word('detail') ?? "It gave no reason. The server's log has more.",
    requestId: word('request_id'),
  };
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

/** Enough to draw it: a proxy's own JSON, or a server of another age, must not break the page. */
function isSystem(body: Body): body is Body & System {
  return Array.isArray(body['checks']) && typeof body['database'] === 'object';
}

const unreachable: Failure = {
  title: 'The server cannot be reached',
  detail: 'Mainstay may be stopped, or the network between it and this browser is down.',
  requestId: null,
};

const slow: Failure = {
  title: 'The server did not answer in time',
  detail: `It was asked and said nothing for ${String(READ_TIMEOUT_MS / 1000)} seconds.`,
  requestId: null,
};

function unreadable(path: string): Failure {
  return {
    title: 'The answer is not from Mainstay',
    detail: `What came for ${path} cannot be read. A proxy in between may be set up wrongly.`,
    requestId: null,
  };
}
