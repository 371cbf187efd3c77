import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 15_000;

/** The real binary on a free port with a data folder of its own. */
export class Server {
  readonly #data = mkdtempSync(join(tmpdir(), 'mainstay-browser-'));
  #process: ChildProcess | null = null;
  origin = '';

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
      env: { PATH: process.env['PATH'] },
    });
    this.#process = child;
    this.origin = await address(child);
    return this;
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
}

/** Waits for the line that tells where it listens. */
function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why: string) => {
      reject(new Error(`the server ${why}; it said:\n${said}`));
    };
    const timer = setTimeout(() => {
      fail('did not tell its address in time');
    }, START_LIMIT_MS);
    const listen = (chunk: Buffer) => {
      said += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[0]);
    };
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
    child.once('error', (error) => {
      fail(`could not be started (${error.message})`);
    });
    child.once('exit', () => {
      fail('ended at once');
    });
  });
}
