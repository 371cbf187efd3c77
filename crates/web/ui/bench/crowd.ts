import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const TEAMS = ['Shop', 'Pay', 'Platform', 'Data', 'Mobile', 'Search'];

export interface CrowdOptions {
  readonly services: number;
  /** Of a hundred answers, how many tell another state than the one before. */
  readonly turning: number;
}

interface Dependency {
  readonly name: string;
  readonly type: string;
  readonly healthy: boolean;
  readonly latencyMs: number;
}

/** As many services as a large company has, each with a health endpoint of its own. */
export class Crowd {
  readonly #server: Server;
  readonly #options: CrowdOptions;
  readonly #ill = new Set<number>();
  /** Off while a page is measured that should stand still. */
  turns = false;

  constructor(options: CrowdOptions) {
    this.#options = options;
    this.#server = createServer((asked, answer) => {
      const number = Number(asked.url?.slice(1));
      if (this.turns && this.#chance(number)) this.turn(number);
      answer.setHeader('Content-Type', 'application/json');
      answer.end(JSON.stringify(this.#leansOn(number)));
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** What configuration as code would say of them. */
  documents(pollIntervalMs: number, size: number): object[] {
    const { port } = this.#server.address() as AddressInfo;
    const services = Array.from({ length: this.#options.services }, (_, number) => ({
      name: nameOf(number),
      team: TEAMS[number % TEAMS.length],
      health_endpoint: `http://127.0.0.1:${String(port)}/${String(number)}`,
      poll_interval_ms: pollIntervalMs,
    }));
    const starts = Array.from({ length: Math.ceil(services.length / size) }, (_, at) => at * size);
    return starts.map((start) => ({ version: 1, services: services.slice(start, start + size) }));
  }

  /** From now on it answers the opposite. */
  turn(number: number): void {
    if (!this.#ill.delete(number)) this.#ill.add(number);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Two things of its own or shared, and in one of three services another service. */
  #leansOn(number: number): Dependency[] {
    const well = !this.#ill.has(number);
    const shared = `database-${String(number % 60).padStart(2, '0')}`;
    const names = [shared, number % 3 === 0 && number > 0 ? nameOf(Math.floor(number / 3)) : 'cache'];
    return names.map((name, at) => ({
      name,
      type: at === 0 ? 'database' : 'service',
      healthy: at === 0 || well,
      latencyMs: 5 + ((number * 7 + at * 13) % 40),
    }));
  }

  #chance(number: number): boolean {
    this.#seed = (this.#seed * 1_103_515_245 + number + 12_345) % 2_147_483_648;
    return (this.#seed / 2_147_483_648) * 100 < this.#options.turning;
  }

  #seed = 42;
}

export function nameOf(number: number): string {
  return `service-${String(number).padStart(4, '0')}`;
}
