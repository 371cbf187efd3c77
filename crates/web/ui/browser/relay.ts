import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

const STREAM = '/api/events';

/** A stream of events that a browser asked for. */
export interface Followed {
  readonly connection: string;
  readonly resumedFrom: string | null;
  readonly answer: ServerResponse;
}

/**
 * Stands between a browser and the server, sees every request for the event stream, those of a
 * worker included, and can break it. A browser may know it by any name.
 */
export class Relay {
  readonly #server: HttpServer;
  /** Every stream that was ever asked for. */
  readonly streams: Followed[] = [];
  /** How many whole pages were asked for. */
  loads = 0;
  /** What is answered with 404, as if it were gone. */
  missing: (path: string) => boolean = () => false;
  /** What is taken and never answered, as by a server that hangs. */
  silent: (path: string) => boolean = () => false;
  /** What is broken off, as if nobody were there. */
  gone: (path: string) => boolean = () => false;
  /** Whether of the event stream only the head of the answer comes, as through a proxy that keeps the rest. */
  holdsBack = false;
  /** The paths of all that was asked for, without what stands behind them. */
  readonly asked: string[] = [];
  /** What the server is told instead of where the browser stands. */
  position: string | null = null;
  #target = new URL('http://127.0.0.1');

  constructor() {
    this.#server = createServer((asked, answer) => {
      this.#pass(asked, answer);
    });
  }

  async start(target: string): Promise<void> {
    this.#target = new URL(target);
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  /** Its address under a name that leads to this machine. */
  origin(name = '127.0.0.1'): string {
    return `http://${name}:${String((this.#server.address() as AddressInfo).port)}`;
  }

  get open(): readonly Followed[] {
    return this.streams.filter(({ answer }) => !answer.closed);
  }

  /** Breaks every stream that is open, as a network does. */
  cut(): void {
    for (const { answer } of this.open) answer.destroy();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const path = asked.url ?? '';
    this.asked.push(path.split('?')[0] ?? '');
    if (asked.headers['sec-fetch-mode'] === 'navigate') this.loads += 1;
    if (this.silent(path)) return;
    if (this.gone(path)) {
      answer.destroy();
      return;
    }
    if (this.missing(path)) {
      answer.writeHead(404).end();
      return;
    }
    if (path.startsWith(STREAM)) this.streams.push(followed(asked, answer));
    const { hostname, port } = this.#target;
    const headers = this.#asTarget(asked.headers);
    const held = this.holdsBack && path.startsWith(STREAM);
    const onward = request({ hostname, port, path, method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      answer.flushHeaders();
      if (held) got.resume();
      else got.pipe(answer);
      got.on('error', () => answer.destroy());
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  }

  /** The server knows itself only by its own name. */
  #asTarget(headers: IncomingHttpHeaders): IncomingHttpHeaders {
    const named: IncomingHttpHeaders = { ...headers, host: this.#target.host };
    if (headers.origin !== undefined) named.origin = this.#target.origin;
    if (this.position !== null) named['last-event-id'] = this.position;
    return named;
  }
}

function followed({ url, headers }: IncomingMessage, answer: ServerResponse): Followed {
  const { searchParams } = new URL(url ?? '', 'http://relay');
  const resumedFrom = headers['last-event-id'];
  return {
    connection: searchParams.get('connection') ?? '',
    resumedFrom: typeof resumedFrom === 'string' ? resumedFrom : null,
    answer,
  };
}
