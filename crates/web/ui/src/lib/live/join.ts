import { broadcast } from './channel';
import { abilities, channelName, holdAlone, holdByLock, wayFor } from './share';
import { Tab, type Ears } from './tab';
import workerAddress from './worker?sharedworker&url';

/** A tab's part in the shared stream, and how it ends. */
export interface Joined {
  readonly tab: Tab;
  readonly leave: () => void;
}

/**
 * Joins the tabs of one person in this browser. `failed` is called where the worker can't be
 * started: then the tab has to go on alone.
 */
export function join(user: string, ears: Ears, failed: () => void): Joined {
  const name = channelName(user);
  const way = wayFor(abilities());
  if (way === 'alone') return joinAlone(ears);
  const tab = new Tab(broadcast(name), ears, Date.now);
  tab.start();
  const stops = [() => { tab.stop(); }];
  if (way === 'locks') stops.push(holdByLock(name, () => tab.known));
  else stops.push(holdByWorker(name, failed));
  return { tab, leave: () => { for (const stop of stops) stop(); } };
}

/**
 * Whoever joins keeps the worker: one that nobody holds may be gone before it says that it can't be loaded.
 * It is heard once: who went on alone and is told so again would open a second connection.
 */
function holdByWorker(name: string, failed: () => void): () => void {
  const worker = new SharedWorker(workerAddress, { type: 'module', name });
  worker.addEventListener('error', failed, { once: true });
  return () => {
    worker.removeEventListener('error', failed);
  };
}

export function joinAlone(ears: Ears): Joined {
  const { channel, stop } = holdAlone();
  const tab = new Tab(channel, ears, Date.now);
  tab.start();
  return {
    tab,
    leave: () => {
      stop();
      tab.stop();
    },
  };
}
