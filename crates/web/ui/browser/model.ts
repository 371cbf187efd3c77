import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the model does when it is asked next: answers with this report, or refuses. */
export type Turn =
  | { readonly report: object }
  | { readonly status: number; readonly headers?: Record<string, string> };

/** A language model that says what it is told to, behind the API that Mainstay asks. */
export class Model {
  /** The last one is said over and over. */
  turns: Turn[] = [];
  readonly #server: HttpServer = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const turn = this.turns.length > 1 ? this.turns.shift() : this.turns[0];
      if (turn === undefined || 'status' in turn) {
        response.writeHead(turn?.status ?? 503, turn?.headers ?? {});
        response.end('{}');
        return;
      }
      const content = [{ type: 'output_text', text: JSON.stringify(turn.report) }];
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ status: 'completed', model: 'stand-in', output: [{ type: 'message', content }] }));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
