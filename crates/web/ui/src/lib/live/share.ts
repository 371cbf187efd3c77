import { broadcast, pair } from './channel';
import { Holder, UNKNOWN, type Known, type World } from './hold';
import type { Channel } from './messages';
import { uuid } from './uuid';

/** How the tabs of a browser share one connection. */
export type Way =
  /** The tab that has the browser's lock holds it. */
  | 'locks'
  /** A worker of all tabs holds it: plain HTTP has no locks. */
  | 'worker'
  /** They can't: each tab has its own. */
  | 'alone';

export interface Abilities {
  readonly locks: boolean;
  readonly worker: boolean;
  readonly channel: boolean;
}

const TICK_MS = 1_000;

export const WORLD: World = {
  now: () => Date.now(),
  chance: () => Math.random(),
  uuid,
  fetch: (path, init) => fetch(path, init),
};

/** Tabs of one person share; another number for those that speak another way. */
export function channelName(user: string): string {
  return `mainstay.live.1.${user}`;
}

export function wayFor({ locks, worker, channel }: Abilities): Way {
  if (!channel) return 'alone';
  if (locks) return 'locks';
  return worker ? 'worker' : 'alone';
}

export function abilities(): Abilities {
  return {
    // What the types promise is not there on plain HTTP.
    locks: (navigator as Partial<Navigator>).locks !== undefined,
    worker: typeof SharedWorker === 'function',
    channel: typeof BroadcastChannel === 'function',
  };
}

/** Holds the connection until the returned function is called. */
export function hold(channel: Channel, known: Known): () => void {
  const holder = new Holder(channel, WORLD, known);
  holder.start();
  const timer = setInterval(() => {
    holder.tick();
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    holder.stop();
  };
}

/** Holds it as soon as, and as long as, no other tab does. */
export function holdByLock(name: string, known: () => Known): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const turn = () =>
    new Promise<void>((resolve) => {
      const stop = hold(broadcast(name), known());
      signal.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });
  // Refused only when it is called off.
  navigator.locks.request(name, { signal }, turn).catch(() => undefined);
  return () => {
    abort.abort();
  };
}

/** Holds it for this tab alone, and gives the end at which the tab hears. */
export function holdAlone(): { channel: Channel; stop: () => void } {
  const [held, channel] = pair();
  return { channel, stop: hold(held, UNKNOWN) };
}
