import type { TimeWindow } from '../api/files';
import type { Incident } from '../graph/incidents';

/** A time to choose, as a call about an incident would mean it. */
export interface Offer extends TimeWindow {
  /** What failed by itself. */
  readonly about: string;
}

/** How far back incidents are looked for. */
export const LOOK_BACK_MS = 24 * 3_600_000;
/** What led to it, and what was seen last, lie a little outside. */
const MARGIN_MS = 5 * 60_000;
export const OFFERS_LIMIT = 5;

type Known = Pick<Incident, 'begin' | 'to' | 'status' | 'names' | 'count' | 'hurt'>;

/** What runs now, the last incident, and those that hurt most, newest first: what a busy quarter of an hour brings pushes out no large one. */
export function offersOf(incidents: readonly Known[], now: number, maxMs: number): Offer[] {
  const newest = [...incidents].sort(byNewest);
  const worst = (one: Known, other: Known) => weight(other) - weight(one);
  const running = newest.filter(({ to }) => to === null).sort(worst);
  const others = newest.filter(({ to }) => to !== null);
  const wanted = [...running, ...others.slice(0, 1), ...others.slice(1).sort(worst)];
  return wanted.slice(0, OFFERS_LIMIT).sort(byNewest).map((one) => offerOf(one, now, maxMs));
}

function byNewest(one: Known, other: Known): number {
  return other.begin - one.begin;
}

/** Of those that hurt as many, one that was down weighs more. */
function weight({ hurt, status }: Known): number {
  return 2 * hurt + Number(status === 'down');
}

function offerOf({ begin, to: end, names, count }: Known, now: number, maxMs: number): Offer {
  const to = Math.min((end ?? now) + MARGIN_MS, now);
  const from = Math.max(begin - MARGIN_MS, to - maxMs);
  const [first = ''] = names;
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    about: count > 1 ? `${first} and ${String(count - 1)} more` : first,
  };
}
