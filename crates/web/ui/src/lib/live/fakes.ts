import type { World } from './hold';
import type { Channel, Message } from './messages';

/** For tests: a server's event stream that is written by hand. */
export class FakeStream {
  readonly #text = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly response: Response;

  constructor(
    readonly path: string,
    readonly init: RequestInit,
  ) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => (this.#controller = controller),
    });
    const headers = { 'Content-Type': 'text/event-stream; charset=utf-8' };
    this.response = new Response(body, { headers });
    init.signal?.addEventListener('abort', () => {
      this.break();
    });
  }

  get resumedFrom(): string | null {
    return new Headers(this.init.headers).get('Last-Event-ID');
  }

  get connection(): string | null {
    return new URL(this.path, 'http://localhost').searchParams.get('connection');
  }

  get aborted(): boolean {
    return this.init.signal?.aborted === true;
  }

  write(text: string): void {
    this.#controller?.enqueue(this.#text.encode(text));
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  break(): void {
    this.#controller?.error(new TypeError('network error'));
    this.#controller = undefined;
  }
}

/** For tests: a world whose clock stands still until it is moved. */
export class FakeWorld implements World {
  time = 1_000_000;
  readonly streams: FakeStream[] = [];
  /** What is answered instead of a stream. */
  refuse: (() => Response | Promise<Response>) | null = null;
  #names = 0;

  now(): number {
    return this.time;
  }

  chance(): number {
    return 0;
  }

  uuid(): string {
    this.#names += 1;
    return `name-${String(this.#names)}`;
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    if (this.refuse !== null) return this.refuse();
    const stream = new FakeStream(path, init);
    this.streams.push(stream);
    return Promise.resolve(stream.response);
  }

  get last(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('nobody asked for the stream');
    return stream;
  }
}

interface End {
  readonly queue: Message[];
  hearer: (message: Message) => void;
}

/** For tests: what tabs speak over. Messages lie in each one's queue until they are delivered. */
export class FakeBus {
  readonly #ends = new Set<End>();

  open(): Channel & { readonly waiting: number; deliver(most?: number): number; lose(): void } {
    const end: End = { queue: [], hearer: () => undefined };
    this.#ends.add(end);
    return {
      post: (message) => {
        // As between real tabs: a copy.
        for (const other of this.#ends) if (other !== end) other.queue.push(structuredClone(message));
      },
      hear: (hearer) => (end.hearer = hearer),
      close: () => this.#ends.delete(end),
      get waiting() {
        return end.queue.length;
      },
      deliver: (most = Infinity) => {
        let delivered = 0;
        for (; delivered < most; delivered += 1) {
          const message = end.queue.shift();
          if (message === undefined) break;
          end.hearer(message);
        }
        return delivered;
      },
      lose: () => end.queue.splice(0),
    };
  }
}

/** For tests: lets everything that is under way go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
}
