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
  signal([worker], 'SIGKILL');
}

/** Has the agents of workers on this host hang, or go on, all at once. */
export function freezeAgents(workers: readonly string[], still: boolean): void {
  signal(workers, still ? 'SIGSTOP' : 'SIGCONT');
}

/** All are found before the first is told, so that nothing comes in between. */
function signal(workers: readonly string[], word: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const agents = processes.filter((entry) => runsFor(entry, workers));
  if (agents.length < workers.length) throw new Error(`${String(agents.length)} agents run for ${workers.join(', ')}`);
  for (const agent of agents) process.kill(Number(agent), word);
}

function runsFor(entry: string, workers: readonly string[]): boolean {
  try {
    const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
    return words[1] === 'agent' && workers.some((worker) => words.includes(worker));
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
