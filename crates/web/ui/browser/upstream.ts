import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a path answers: a body, or a status without one, or nothing until it is let go. */
export type Answer = object | number | 'hangs';

export const WELL = [
  { name: 'orders-db', type: 'database', healthy: true, latencyMs: 3.2, description: 'Orders and their history', impact: 'Nobody can order', contact: { team: 'orders', slack: '#orders-oncall' } },
  { name: 'payments', type: 'rest', healthy: true, latencyMs: 41 },
  { name: 'legacy-mail', health: { skipped: true } },
];
export const ILL = [
  WELL[0],
  { name: 'payments', type: 'rest', healthy: false, latencyMs: 1_501, error: { code: 'ETIMEDOUT' }, errorMessage: 'timed out after 1500 ms' },
  { name: 'search', type: 'http', healthy: true, health: { state: 1, latency: 870 } },
];

/** A small server that answers as the test says: what services lean on, and how they are. */
export class Upstream {
  readonly #server: Server;
  readonly #held: ServerResponse[] = [];
  readonly answers = new Map<string, Answer>();
  readonly asked: IncomingMessage[] = [];

  constructor() {
    this.#server = createServer((asked, answer) => {
      this.asked.push(asked);
      this.#give(this.answers.get(asked.url ?? '') ?? 404, answer);
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** The address of a path, which answers so from now on. */
  at(path: string, answer: Answer): string {
    this.answers.set(path, answer);
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}${path}`;
  }

  /** Answers all that hang. */
  letGo(body: object): void {
    for (const answer of this.#held.splice(0)) this.#give(body, answer);
  }

  async stop(): Promise<void> {
    this.letGo([]);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #give(what: Answer, answer: ServerResponse): void {
    if (what === 'hangs') {
      this.#held.push(answer);
      return;
    }
    answer.statusCode = typeof what === 'number' ? what : 200;
    answer.setHeader('Content-Type', 'application/json');
    answer.end(typeof what === 'number' ? '' : JSON.stringify(what));
  }
}
