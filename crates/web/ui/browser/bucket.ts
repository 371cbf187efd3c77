import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An S3 storage that keeps what it is given, and tells so when a test lets it. */
export class Bucket {
  readonly keys = new Set<string>();
  /** Stored, and not told so. */
  readonly held: ServerResponse[] = [];
  #holds = false;
  readonly #server: HttpServer = createServer((request, response) => {
    const key = new URL(request.url ?? '', 'http://bucket').pathname;
    request.resume();
    request.on('end', () => {
      if (request.method === 'PUT') this.#put(key, response);
      else if (request.method === 'DELETE') {
        this.keys.delete(key);
        response.writeHead(204).end();
      } else response.writeHead(404).end();
    });
  });

  async start(): Promise<Record<string, string>> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return {
      S3_ENDPOINT: `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`,
      S3_REGION: 'us-east-1',
      S3_BUCKET: 'mainstay',
      S3_ACCESS_KEY_ID: 'test-key',
      S3_SECRET_ACCESS_KEY: 'not-a-real-secret',
    };
  }

  hold(): void {
    this.#holds = true;
  }

  letGo(): void {
    this.#holds = false;
    for (const response of this.held.splice(0)) stored(response);
  }

  async stop(): Promise<void> {
    this.letGo();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #put(key: string, response: ServerResponse): void {
    this.keys.add(key);
    if (this.#holds) this.held.push(response);
    else stored(response);
  }
}

function stored(response: ServerResponse): void {
  response.writeHead(200, { ETag: '"1"' }).end();
}
