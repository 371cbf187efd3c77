import { quietPort } from './ports';
import { makeFirstAccount, type Signed } from './people';
import { Program } from './program';

const START_LIMIT_MS = 20_000;

/** `mainstay serve` on a port of its own with a data folder of its own. */
export class Server {
  readonly #program = new Program();
  origin = '';

  /** `env` is what it is told beside where it listens. */
  constructor(readonly env: Readonly<Record<string, string>> = {}) {}

  /** Starts it, the second time at the same address as the first. */
  async start(): Promise<this> {
    const listen = this.origin === '' ? `127.0.0.1:${String(await quietPort())}` : new URL(this.origin).host;
    this.#program.start(['serve', '--listen', listen, '--data-dir', this.#program.folder], this.env);
    const found = await this.#program.find(/http:\/\/127\.0\.0\.1:\d+/, START_LIMIT_MS);
    this.origin = found[0];
    return this;
  }

  /** The one-time link that it wrote because there is no account yet. */
  async setupLink(): Promise<string> {
    const [, token = ''] = await this.#program.find(/\/setup#([\w-]{43})/, START_LIMIT_MS);
    return `${this.origin}/setup#${token}`;
  }

  enter(): Promise<Signed> {
    return makeFirstAccount(this);
  }

  /** Waits until its log has such a line. */
  async logs(line: RegExp): Promise<void> {
    await this.#program.find(line, START_LIMIT_MS);
  }

  freeze(still: boolean): void {
    this.#program.freeze(still);
  }

  stop(): Promise<void> {
    return this.#program.stop();
  }

  remove(): Promise<void> {
    return this.#program.remove();
  }
}
