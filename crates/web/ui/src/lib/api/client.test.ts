import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse, READ_TIMEOUT_MS, readSystem, refusal } from './client';

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
      failure: { title: 'Busy', detail: 'Wait.', requestId: 'r1' },
    });
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
