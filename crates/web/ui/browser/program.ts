import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STOP_LIMIT_MS = 15_000;
const LOOK_MS = 20;

/** The real binary as a process of its own, with a folder that goes with it. */
export class Program {
  readonly folder = mkdtempSync(join(tmpdir(), 'mainstay-browser-'));
  #process: ChildProcess | null = null;
  #said = '';

  /** Starts it; `env` is what it is told beside its arguments. */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const binary = process.env['MAINSTAY_BINARY'];
    if (binary === undefined) {
      throw new Error('MAINSTAY_BINARY must name the mainstay binary that the tests run');
    }
    const child = spawn(binary, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Settings of whoever runs the tests must not reach the server under test.
      env: { PATH: process.env['PATH'], TMPDIR: this.folder, ...env },
    });
    this.#process = child;
    this.#said = '';
    const hear = (chunk: Buffer) => (this.#said += chunk.toString());
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    // One that has ended hears nothing, which whoever waits for what it does finds out.
    child.stdin.on('error', () => undefined);
  }

  /** Writes a line to its standard input. */
  tell(line: string): void {
    this.#process?.stdin?.write(`${line}\n`);
  }

  /** Waits until it has said something. */
  find(wanted: RegExp, limitMs: number): Promise<RegExpExecArray> {
    const child = this.#process;
    if (child === null) throw new Error('the program is not started');
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => {
        clearTimeout(timer);
        clearInterval(looks);
        finish();
      };
      const fail = (why: string) => {
        end(() => {
          reject(new Error(`the program ${why}; it said:\n${this.#said}`));
        });
      };
      const timer = setTimeout(() => {
        fail(`did not say ${String(wanted)} in time`);
      }, limitMs);
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

  /** Stands still as it is, or goes on, without anybody who is connected being told. */
  freeze(still: boolean): void {
    this.#process?.kill(still ? 'SIGSTOP' : 'SIGCONT');
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
    // An agent that has just been told to end may still write there.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
