import { compared } from '../names';
import type { Window } from './time';

/** A time at which something went down. */
export interface Mark {
  readonly at: number;
  /** What went down, the first few of it. */
  readonly names: readonly string[];
  readonly count: number;
}

interface Fell {
  readonly at: number;
  readonly kind: string;
  readonly service_id: string;
  readonly dependency_id: string | null;
  readonly dependency_name: string | null;
  readonly after: string | null;
}

/** What falls within such a part of the window is one incident. */
const PARTS = 90;
const MOST_NAMED = 3;

/**
 * When services and what they lean on went down. What many report within a short time is one mark,
 * and a thing that a hundred services find down is one name.
 */
export function marksOf(
  changes: readonly Fell[],
  window: Window,
  nameOf: (service: string) => string | undefined,
): Mark[] {
  const gap = (window.to - window.from) / PARTS;
  const fallen = changes
    .filter(({ at, after }) => after === 'down' && at >= window.from && at <= window.to)
    .filter(({ kind }) => kind === 'service' || kind === 'dependency')
    .sort((one, other) => one.at - other.at);
  const marks: { at: number; last: number; names: Map<string, string> }[] = [];
  for (const change of fallen) {
    const name = change.dependency_id === null ? nameOf(change.service_id) : change.dependency_name;
    const last = marks.at(-1);
    const mark = last !== undefined && change.at - last.at <= gap
      ? last
      : { at: change.at, last: change.at, names: new Map<string, string>() };
    if (mark !== last) marks.push(mark);
    mark.last = change.at;
    const known = name ?? 'A service that is gone';
    if (!mark.names.has(compared(known))) mark.names.set(compared(known), known);
  }
  return marks.map(({ at, last, names }) => ({
    // All of it can be seen only when the last of it has happened.
    at: Math.max(at, last),
    names: [...names.values()].slice(0, MOST_NAMED),
    count: names.size,
  }));
}

export function markText({ names, count }: Mark): string {
  const more = count > names.length ? ` and ${String(count - names.length)} more` : '';
  return `${names.join(', ')}${more} went down`;
}

/** The incident that a moment stands at: one that has happened, and less than a step ago. */
export function markAt(marks: readonly Mark[], moment: number, step: number): Mark | null {
  return marks.findLast(({ at }) => at <= moment && moment - at < step) ?? null;
}

/** The next incident before or after a moment; null when there is none. */
export function nextMark(marks: readonly Mark[], moment: number, way: 1 | -1): Mark | null {
  if (way === 1) return marks.find(({ at }) => at > moment) ?? null;
  return marks.findLast(({ at }) => at < moment) ?? null;
}
