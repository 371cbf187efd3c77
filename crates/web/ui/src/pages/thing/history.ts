import { errorText } from '../services/dependencies';
import type { DependencyError, Timeline } from '../../lib/api/dependencies';
import type { Span } from '../../lib/axis';
import { worst } from '../../lib/graph/then';
import type { Status } from '../../lib/status';

/** A change of what somebody says of a thing, or of what is wrong with it. */
export interface ThingChange {
  readonly key: string;
  readonly at: string;
  /** Who says so. */
  readonly name: string;
  readonly before: Status;
  readonly after: Status;
  /** What was wrong from then on; null where nobody said. */
  readonly text: string | null;
}

type Held<Value> = Readonly<Partial<Record<string, Value>>>;

/** How a thing was by all who tell of it, as in the graph: the worst that is known. Null where nobody tells. */
export function wholeOf(timelines: readonly Timeline[]): Timeline | null {
  const from = timelines.map((one) => one.from).sort()[0];
  const to = timelines.map((one) => one.to).sort().at(-1);
  if (from === undefined || to === undefined) return null;
  const said = new Map<number, Status>();
  const turns = timelines.flatMap((one, who) => [
    { at: one.from, who, status: one.initial },
    ...one.transitions.map(({ at, status }) => ({ at, who, status })),
  ]).sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const transitions: Timeline['transitions'] = [];
  turns.forEach(({ at, who, status }, place) => {
    said.set(who, status);
    // What is said at one moment is one change.
    if (turns[place + 1]?.at === at) return;
    const whole = worst(said.values());
    if (transitions.at(-1)?.status !== whole) transitions.push({ at, status: whole });
  });
  const [first, ...rest] = transitions;
  return { from, to, initial: first?.status ?? 'unknown', transitions: rest };
}

/** What changed in a span by all who report a thing, newest first. */
export function changesOf(
  reports: readonly { readonly id: string; readonly name: string }[],
  timelines: Held<Timeline>,
  errors: Held<{ readonly items: readonly DependencyError[] }>,
  { from, to }: Span,
): ThingChange[] {
  const all = reports.flatMap(({ id, name }) => {
    const timeline = timelines[id];
    if (timeline === undefined) return [];
    const changes = ofOne(timeline, errors[id]?.items ?? []);
    return changes.map((change, place) => ({ ...change, name, key: `${id} ${change.at} ${String(place)}` }));
  });
  return all
    .filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to)
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

function ofOne({ initial, transitions }: Timeline, errors: readonly DependencyError[]): Omit<ThingChange, 'key' | 'name'>[] {
  const wrongAt = (at: string) => {
    const known = errors.filter((one) => Date.parse(one.at) <= Date.parse(at));
    const last = known.reduce<DependencyError | null>((best, one) => (best === null || Date.parse(one.at) > Date.parse(best.at) ? one : best), null);
    return last === null ? null : errorText(last);
  };
  const turns = transitions.map(({ at, status }, place) => ({
    at,
    before: transitions[place - 1]?.status ?? initial,
    after: status,
    text: isIll(status) ? wrongAt(at) : null,
  }));
  const times = new Set(transitions.map(({ at }) => at));
  const others = errors.flatMap((error) => {
    const text = errorText(error);
    const status = transitions.findLast(({ at }) => Date.parse(at) <= Date.parse(error.at))?.status ?? initial;
    return times.has(error.at) || text === null || !isIll(status) ? [] : [{ at: error.at, before: status, after: status, text }];
  });
  return [...turns, ...others];
}

function isIll(status: Status): boolean {
  return status === 'degraded' || status === 'down';
}
