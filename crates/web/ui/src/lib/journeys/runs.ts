import type { Journey, Run, RunMark, RunStatus } from '../api/journeys';
import type { Status } from '../status';
import { latency, span } from '../time';

/** How a run looks where services have their status. */
const LOOKS: Readonly<Record<RunStatus, Status | null>> = {
  queued: null,
  running: null,
  passed: 'healthy',
  failed: 'down',
  skipped: 'skipped',
  aborted: 'unknown',
};

const CELLS = 60;

/** The one that has not ended, if any. */
export function underWay<Item extends Pick<Run, 'status'>>(runs: readonly Item[]): Item | null {
  return runs.find(({ status }) => status === 'queued' || status === 'running') ?? null;
}

export function looksOf(status: RunStatus): Status | null {
  return LOOKS[status];
}

/** The strip of a journey: a cell for each run, the newest at the right edge. */
export function cellsOf(strip: readonly RunMark[]): (Status | null)[] {
  const ended = strip.filter(({ status }) => LOOKS[status] !== null).slice(-CELLS);
  const empty: null[] = Array.from({ length: CELLS - ended.length }, () => null);
  return [...empty, ...ended.map(({ status }) => LOOKS[status])];
}

const WORST_FIRST: readonly RunStatus[] = ['failed', 'aborted', 'skipped', 'passed'];

/** "last 60 runs: 2 failed, 58 passed". */
export function stripText(strip: readonly RunMark[]): string {
  const told = WORST_FIRST.map((status) => ({
    status,
    count: strip.filter((mark) => mark.status === status).length,
  })).filter(({ count }) => count > 0);
  const runs = told.reduce((sum, { count }) => sum + count, 0);
  if (runs === 0) return 'no run has ended yet';
  const words = told.map(({ status, count }) => `${String(count)} ${status}`).join(', ');
  return `last ${runs === 1 ? 'run' : `${String(runs)} runs`}: ${words}`;
}

/** How a journey is, as one status. What it was when it last ran says nothing about now. */
export function statusOf({ outcome, not_run_since }: Pick<Journey, 'outcome' | 'not_run_since'>): Status {
  if (outcome === null || not_run_since !== null) return 'unknown';
  return outcome === 'passed' ? 'healthy' : 'down';
}

/** The same in a word of journeys. */
export function wordOf({ outcome, is_enabled, not_run_since }: Known): string {
  const word = outcome === null ? 'never run' : outcome === 'passed' ? 'passing' : 'failing';
  if (!is_enabled) return `${word}, off`;
  if (not_run_since === null) return word;
  return outcome === null ? 'not run' : `not run, was ${word}`;
}

/** Since when it is so. */
export function sinceOf({ outcome_since, not_run_since }: Pick<Journey, 'outcome_since' | 'not_run_since'>): string | null {
  return not_run_since ?? outcome_since;
}

type Known = Pick<Journey, 'outcome' | 'is_enabled' | 'not_run_since'>;

/** The failing ones first, then those without a run, each by name. */
export function ordered<Item extends Pick<Journey, 'name' | 'outcome' | 'is_enabled'>>(
  journeys: readonly Item[],
): Item[] {
  const rank = ({ outcome, is_enabled }: Item) =>
    is_enabled ? (outcome === 'failed' ? 0 : outcome === null ? 1 : 2) : 3;
  return journeys.toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
}

/** "every 1 min", or that it waits for somebody. */
export function everyText(every: number | null): string {
  return every === null ? 'by hand' : `every ${span(every)}`;
}

export function tookText(ms: number | null): string {
  return ms === null ? '–' : latency(ms);
}

/** Whether a journey crosses what goes by this name, in any case. */
export function crosses(touches: readonly string[], name: string): boolean {
  const same = touchedName(name);
  return touches.some((one) => touchedName(one) === same);
}

/** A name as journeys mean it. */
export function touchedName(name: string): string {
  return name.trim().toLowerCase();
}
