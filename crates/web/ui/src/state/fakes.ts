import { vi } from 'vitest';
import { Hearers } from '../lib/live/hearers';
import type { LiveEvent } from '../lib/live/messages';

/** The stream as a page sees it: what happens here is heard. */
export const stream = new Hearers();

export function happen(type: string, more: Record<string, unknown> = {}): void {
  const event: LiveEvent = { type, seq: 1, stream: 'org', at: new Date().toISOString(), ...more };
  stream.tell([event], null);
}

/** A page that is looked at, as far as state needs one. */
export function openPage(): void {
  vi.stubGlobal('window', new EventTarget());
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.useFakeTimers();
}

interface Asked {
  readonly path: string;
  readonly unwanted: AbortSignal | null;
  answer(body: object, headers?: Record<string, string>): Promise<void>;
  refuse(status?: number): Promise<void>;
}

/** A server that answers when a test tells it to. */
export function openServer(): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal('fetch', (path: string, { signal }: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      const end = async (response: Response) => {
        resolve(response);
        await vi.advanceTimersByTimeAsync(0);
      };
      signal?.addEventListener('abort', () => { reject(new Error('aborted')); });
      asked.push({
        path,
        unwanted: signal ?? null,
        answer: (body, headers = {}) => end(new Response(JSON.stringify(body), { headers })),
        refuse: (status = 503) => end(new Response('{"error":"not now"}', { status })),
      });
    }),
  );
  return asked;
}
