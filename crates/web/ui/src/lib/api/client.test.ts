import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  change,
  keeping,
  noteSignedIn,
  parse,
  read,
  READ_TIMEOUT_MS,
  readSystem,
  readTagged,
  isPassing,
  refusal,
  remove,
  RETRY_AFTER_LIMIT_S,
  retryAfter,
  whenSignedOut,
  write,
  WRITE_TIMEOUT_MS,
  type Body,
} from './client';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const answerWith = (body: string, status = 200) => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status })));
};

describe('readSystem', () => {
  it('gives the body', async () => {
    answerWith('{"version":"0.1.0","database":{},"checks":[]}');
    expect(await readSystem()).toMatchObject({ ok: true, value: { version: '0.1.0' } });
  });

  it("gives the server's own words for a refusal", async () => {
    answerWith('{"error":"Busy","code":"busy","detail":"Wait.","request_id":"r1"}', 503);
    expect(await readSystem()).toEqual({
      ok: false,
      failure: {
        title: 'Busy',
        detail: 'Wait.',
        requestId: 'r1',
        code: 'busy',
        status: 503,
        retryAfter: null,
      },
    });
  });

  it('gives the field that is wrong, where the server names one', async () => {
    answerWith('{"error":"No","code":"invalid_definition","detail":"d","field":"definition.extra"}', 400);
    expect(await readSystem()).toMatchObject({ ok: false, failure: { field: 'definition.extra' } });
  });

  it.each(['<html>', '{"status":"ok"}', '[]'])('sees that %s is no answer', async (body) => {
    answerWith(body);
    expect(await readSystem()).toMatchObject({
      ok: false,
      failure: { title: 'The answer is not from Mainstay' },
    });
  });

  it('tells an unreachable server', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    expect(await readSystem()).toMatchObject({
      ok: false,
      failure: { title: 'The server cannot be reached' },
    });
  });

  it('gives up on a server that says nothing', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', (_path: string, { signal }: { signal: AbortSignal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new DOMException('aborted', 'AbortError'));
        });
      });
    });
    const answer = readSystem();
    await vi.advanceTimersByTimeAsync(READ_TIMEOUT_MS);
    expect(await answer).toMatchObject({
      ok: false,
      failure: { title: 'The server did not answer in time' },
    });
  });
});

describe('a change', () => {
  const isAnything = (body: Body): body is Body => Object.keys(body).length > 0;
  const silence = (_path: string, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(new DOMException('aborted', 'AbortError'));
      });
    });

  it('sends JSON and gives the body', async () => {
    const fetched = vi.fn(() => Promise.resolve(new Response('{"id":"1"}', { status: 201 })));
    vi.stubGlobal('fetch', fetched);
    const answer = await write('POST', '/api/things', { name: 'ü' }, isAnything);
    expect(answer).toMatchObject({ ok: true, value: { id: '1' } });
    expect(fetched).toHaveBeenCalledWith(
      '/api/things',
      expect.objectContaining({
        method: 'POST',
        body: '{"name":"ü"}',
        headers: { 'Content-Type': 'application/json' },
      }),
    );
  });

  it('is done when the answer has no body', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(null, { status: 204 })));
    expect(await change('DELETE', '/api/things/1')).toMatchObject({ ok: true, value: null });
  });

  it('names the generation that it is for, and says whether what is removed is gone', async () => {
    const fetched = vi.fn(() => Promise.resolve(new Response(null, { status: 204 })));
    vi.stubGlobal('fetch', fetched);
    expect(await remove('/api/things/1', { match: 7 })).toMatchObject({ ok: true, value: true });
    expect(fetched).toHaveBeenCalledWith(
      '/api/things/1',
      expect.objectContaining({ method: 'DELETE', headers: { 'If-Match': '7' } }),
    );
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{"id":"1"}', { status: 202 })));
    expect(await remove('/api/things/1')).toMatchObject({ ok: true, value: false });
  });

  it('that nobody answered may have been made', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', silence);
    const answer = change('POST', '/api/things');
    await vi.advanceTimersByTimeAsync(WRITE_TIMEOUT_MS);
    const given = await answer;
    expect(given).toMatchObject({ ok: false });
    expect(given.ok ? '' : given.failure.detail).toContain('Look whether it was done');
  });

  it('says when to come again', async () => {
    const headers = { 'Retry-After': '42' };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status: 429, headers })));
    expect(await change('POST', '/api/things')).toMatchObject({ failure: { retryAfter: 42 } });
  });
});

describe('being signed out', () => {
  it.each([
    [401, 'unauthenticated', 1],
    [401, 'invalid_credentials', 0],
    [403, 'unauthenticated', 0],
    [403, 'forbidden', 0],
  ])('status %i with %s is told %i times', async (status, code, times) => {
    const told = vi.fn();
    whenSignedOut(told);
    answerWith(JSON.stringify({ error: 'No', code, detail: 'No.' }), status);
    await readSystem();
    expect(told).toHaveBeenCalledTimes(times);
  });

  it('is said in words for people', async () => {
    whenSignedOut(() => undefined);
    answerWith(JSON.stringify({ error: 'You are not signed in', code: 'unauthenticated', detail: 'Authorization: Bearer mst_…' }), 401);
    const answer = await readSystem();
    expect(answer.ok ? null : [answer.failure.title, answer.failure.detail]).toEqual(['Your session has ended', 'Sign in, and try again.']);
  });

  it('is not told of a session that was begun anew before the answer came', async () => {
    const told = vi.fn();
    whenSignedOut(told);
    let answer: (response: Response) => void = () => undefined;
    const late = new Promise<Response>((resolve) => { answer = resolve; });
    vi.stubGlobal('fetch', () => late);
    const reading = readSystem();
    noteSignedIn();
    answer(new Response('{"code":"unauthenticated"}', { status: 401 }));
    await reading;
    expect(told).not.toHaveBeenCalled();
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-16T12:00:00Z');

  it.each([
    [null, null],
    ['', null],
    ['soon', null],
    ['0', 0],
    ['30', 30],
    ['Mon, 16 Nov 2026 12:00:10 GMT', 10],
    ['Mon, 16 Nov 2026 11:00:00 GMT', 0],
    ['99999999', RETRY_AFTER_LIMIT_S],
  ])('%s is %s seconds', (header, seconds) => {
    expect(retryAfter(header, now)).toBe(seconds);
  });
});

describe('a body', () => {
  it('is an object or nothing', () => {
    expect(parse('{"a":1}')).toEqual({ a: 1 });
    expect(['', '[]', 'null', '1', '{'].map(parse)).toEqual([null, null, null, null, null]);
  });

  it('without words still names the status', () => {
    expect(refusal(502, null).title).toBe('The server answered with status 502');
    expect(refusal(502, { error: 7 }).title).toBe('The server answered with status 502');
  });
});

describe('what is read by its tag', () => {
  const isBody = (body: Body): body is Body => 'n' in body;
  /** Answers what it is told to, and notes by which tags it was asked. */
  const server = () => {
    const asked: (string | null)[] = [];
    const answers: (() => Response)[] = [];
    vi.stubGlobal('fetch', (_: string, { headers }: RequestInit) => {
      asked.push(new Headers(headers).get('If-None-Match'));
      return Promise.resolve(answers.shift()?.() ?? new Response('', { status: 500 }));
    });
    const full = (n: number, tag: string) => () => new Response(JSON.stringify({ n }), { headers: { ETag: tag } });
    const unchanged = () => new Response(null, { status: 304 });
    return { asked, answers, full, unchanged };
  };

  it('is nothing while it is the same', async () => {
    const { answers, full, unchanged } = server();
    answers.push(full(1, '"a"'), unchanged, unchanged);
    expect(await readTagged('/x', null, isBody)).toMatchObject({ ok: true, value: { tag: '"a"', value: { n: 1 } } });
    expect(await readTagged('/x', '"a"', isBody)).toMatchObject({ ok: true, value: null });
    // Who has nothing can't be told that it is the same.
    expect(await readTagged('/x', null, isBody)).toMatchObject({ ok: false });
  });

  it('is the same object while it is the same, and forgotten for another path', async () => {
    const { asked, answers, full, unchanged } = server();
    const read = keeping(isBody);
    answers.push(full(1, '"a"'), unchanged, full(2, '"b"'), full(3, '"c"'));
    const [first, second, third, other] = [await read('/x'), await read('/x'), await read('/x'), await read('/y')];
    expect(asked).toEqual([null, '"a"', '"a"', null]);
    expect([first, second, third, other].map((answer) => answer.ok && answer.value)).toEqual([{ n: 1 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    expect(first.ok && second.ok && first.value === second.value).toBe(true);
  });

  it('ends when nobody waits for it any more', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => { reject(new Error('aborted')); })),
    );
    const unwanted = new AbortController();
    const answer = read('/x', isBody, unwanted.signal);
    unwanted.abort();
    expect(await answer).toMatchObject({ ok: false });
  });
});

it.each([[null, true], [500, true], [503, true], [400, false], [401, false], [429, false]])(
  'what failed with status %s may pass by itself: %s',
  (status, passing) => {
    expect(isPassing({ ...refusal(status ?? 0, null), status })).toBe(passing);
  },
);
