import type { Change } from '../api/activity';
import type { TimeWindow } from '../api/files';
import { rootNames, type Told } from '../turns';

/** A stretch in which things broke and came back, as a call about it would mean it. */
export interface Incident extends TimeWindow {
  /** What failed by itself, the one that most others failed because of first. */
  readonly names: readonly string[];
  readonly changes: number;
}

/** Changes this close together belong to one incident. */
const GAP_MS = 20 * 60_000;
/** What led to it, and what was seen last, lie a little outside. */
const MARGIN_MS = 5 * 60_000;
export const INCIDENTS_LIMIT = 3;
/** A single blip is no incident that people call each other about. */
const LEAST_CHANGES = 2;

type Known = Told & Pick<Change, 'at'>;

/** The last incidents in what changed lately, newest first. */
export function incidentsOf(changes: readonly Known[], now: number, maxMs: number): Incident[] {
  const groups: Known[][] = [];
  const inOrder = [...changes].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  for (const change of inOrder) {
    const last = groups.at(-1);
    const before = Date.parse(last?.at(-1)?.at ?? '');
    if (last !== undefined && Date.parse(change.at) - before <= GAP_MS) last.push(change);
    else groups.push([change]);
  }
  return groups
    .filter((group) => group.length >= LEAST_CHANGES && group.some(isBad))
    .map((group) => incidentOf(group, now, maxMs))
    .reverse()
    .slice(0, INCIDENTS_LIMIT);
}

function incidentOf(group: readonly Known[], now: number, maxMs: number): Incident {
  const last = Date.parse(group.at(-1)?.at ?? '');
  const to = Math.min(last + MARGIN_MS, now);
  const from = Math.max(Date.parse(group[0]?.at ?? '') - MARGIN_MS, to - maxMs);
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    names: rootNames(group),
    changes: group.length,
  };
}

function isBad({ current }: Known): boolean {
  return current === 'down' || current === 'degraded';
}
