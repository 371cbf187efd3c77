import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that a system gives to whoever asks for any: nobody is given one of these while the server that
 * had it is away for a moment.
 */
const FIRST_PORT = 20_000;
/** Each worker has its own part of them. */
const PORTS_EACH = 3_000;
const PARTS = 4;
const MOST_TRIES = 50;

let next = randomInt(PORTS_EACH);

/** A port that is free, and stays so until it is taken on purpose. */
export async function quietPort(): Promise<number> {
  const part = Number(process.env['VITEST_POOL_ID'] ?? 0) % PARTS;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = FIRST_PORT + part * PORTS_EACH + (next % PORTS_EACH);
    next += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`${String(MOST_TRIES)} ports in a row are taken`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => { resolve(false); });
    server.listen(port, '127.0.0.1', () => server.close(() => { resolve(true); }));
  });
}
