import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 15_000;
const LOOK_MS = 20;

/** The real binary on a free port with a data folder of its own. */
export class Server {
  readonly #data = mkdtempSync(join(tmpdir(), 'mainstay-browser-'));
  #process: ChildProcess | null = null;
  #said = '';
  origin = '';

  /** `env` is what it is told beside where it listens. */
  constructor(readonly env: Readonly<Record<string, string>> = {}) {}

  /** Starts it, the second time at the same address as the first. */
  async start(): Promise<this> {
    const binary = process.env['MAINSTAY_BINARY'];
    if (binary === undefined) {
      throw new Error('MAINSTAY_BINARY must name the mainstay binary that the tests run');
    }
    const listen = this.origin === '' ? '127.0.0.1:0' : new URL(this.origin).host;
    const child = spawn(binary, ['serve', '--listen', listen, '--data-dir', this.#data], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Settings of whoever runs the tests must not reach the server under test.
      env: { PATH: process.env['PATH'], ...this.env },
    });
    this.#process = child;
    this.#said = '';
    const hear = (chunk: Buffer) => (this.#said += chunk.toString());
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const found = await this.#find(child, /http:\/\/127\.0\.0\.1:\d+/);
    this.origin = found[0];
    return this;
  }

  /** The one-time link that it wrote because there is no account yet. */
  async setupLink(): Promise<string> {
    if (this.#process === null) throw new Error('the server is not started');
    const [, token = ''] = await this.#find(this.#process, /\/setup#([\w-]{43})/);
    return `${this.origin}/setup#${token}`;
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child?.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(late);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#data, { recursive: true, force: true });
  }

  /** Waits until it has said something. */
  #find(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer);
        clearInterval(looks);
        finish();
      };
      const fail = (why: string) => {
        end(() => {
          reject(new Error(`the server ${why}; it said:\n${this.#said}`));
        });
      };
      const timer = setTimeout(() => {
        fail(`did not say ${String(wanted)} in time`);
      }, START_LIMIT_MS);
      const looks = setInterval(() => {
        const found = wanted.exec(this.#said);
        if (found !== null) end(() => { resolve(found); });
        else if (child.exitCode !== null) fail('ended at once');
      }, LOOK_MS);
      child.once('error', (error) => {
        fail(`could not be started (${error.message})`);
      });
    });
  }
}
