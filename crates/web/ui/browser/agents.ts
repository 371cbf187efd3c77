import { readdirSync, readFileSync } from 'node:fs';
import type { Api } from './people';

interface Named {
  readonly id: string;
  readonly name: string;
}

export async function workerId(api: Api, name: string): Promise<string> {
  const found = (await api.list<Named>('/api/workers')).find((worker) => worker.name === name);
  if (found === undefined) throw new Error(`there is no worker ${name}`);
  return found.id;
}

/** Ends the agent of a worker on this host at once, as a crash does. */
export function killAgent(worker: string): void {
  signal(worker, 'SIGKILL');
}

/** Has the agent of a worker on this host hang, or go on. */
export function freezeAgent(worker: string, still: boolean): void {
  signal(worker, still ? 'SIGSTOP' : 'SIGCONT');
}

function signal(worker: string, word: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  const agents = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).filter((entry) => runsFor(entry, worker));
  if (agents.length === 0) throw new Error(`no agent runs for ${worker}`);
  for (const agent of agents) process.kill(Number(agent), word);
}

function runsFor(entry: string, worker: string): boolean {
  try {
    const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
    return words[1] === 'agent' && words.includes(worker);
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
