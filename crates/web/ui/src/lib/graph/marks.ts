import { isolated } from '../isolate';
import { grouped, sinceTime, span } from '../time';
import type { Incident } from './incidents';
import { partOf, type Window } from './time';

/** What stands on the line of time for an incident, or for some that have no room beside each other. */
export interface Mark {
  /** The first of them: where it stands, and where it leads. */
  readonly first: Incident;
  readonly all: readonly Incident[];
  /** The worst of them. */
  readonly status: 'degraded' | 'down';
  /** Where it stands in the window, from 0 to 1. */
  readonly part: number;
}

/** So many pixels a mark needs, to be seen and to be hit. */
const ROOM = 28;

/**
 * The marks of the incidents of a window that is drawn so many pixels wide. One that began before the
 * window and lasted into it stands at the edge.
 */
export function marksOf(incidents: readonly Incident[], window: Window, width: number): Mark[] {
  const marks: (Mark & { all: Incident[] })[] = [];
  const inTime = within(incidents, window).sort((one, other) => one.begin - other.begin || one.seen - other.seen);
  for (const incident of inTime) {
    const part = partOf(incident.begin, window);
    const last = marks.at(-1);
    if (last === undefined || (part - last.part) * width >= ROOM) {
      marks.push({ first: incident, all: [incident], status: incident.status, part });
    } else {
      last.all.push(incident);
      if (incident.status === 'down') marks[marks.length - 1] = { ...last, status: 'down' };
    }
  }
  return marks;
}

/** The incidents of which something lies in a window. */
export function within(incidents: readonly Incident[], { from, to }: Window): Incident[] {
  return incidents.filter(({ begin, to: end }) => begin <= to && (begin >= from || end === null || end >= from));
}

/** "Incident 14:02:10, PostgreSQL main down, 6 hurt, 8 min", for the eye and the ear. */
export function incidentText(incident: Incident, now: number, zone?: string): string {
  return `Incident ${sinceTime(incident.begin, now, zone)}, ${whatText(incident, now)}`;
}

/** The same without when it began. */
export function whatText(incident: Incident, now: number): string {
  const { names, count, causeStatus, hurt, hurtDown, begin, to } = incident;
  const more = count > names.length ? ` and ${grouped(count - names.length)} more` : '';
  const down = causeStatus === 'degraded' && hurtDown > 0 ? [`${grouped(hurtDown)} of them down`] : [];
  const lasted = span(Math.max((to ?? now) - begin, 0));
  return [
    `${names.map(isolated).join(', ')}${more} ${causeStatus}`,
    ...(hurt === 0 ? [] : [`${grouped(hurt)} hurt`, ...down]),
    to === null ? `${lasted} so far` : lasted,
  ].join(', ');
}

export function markText({ first, all }: Mark, now: number, zone?: string): string {
  const text = incidentText(first, now, zone);
  return all.length === 1 ? text : `${grouped(all.length)} incidents, the first: ${text}`;
}

/** Where a mark leads: to its first incident, and from each of them to the one after it. */
export function turnOf({ first, all }: Mark, current: string | null): Incident {
  const place = all.findIndex(({ id }) => id === current);
  return all[place + 1] ?? first;
}

/**
 * The next incident before or after a moment; null when there is none. Of those that are seen from one
 * moment on, each has its turn after the one that was chosen.
 */
export function nextIncident(
  incidents: readonly Incident[],
  moment: number,
  way: 1 | -1,
  chosen: string | null,
): Incident | null {
  const place = incidents.findIndex(({ id, seen }) => id === chosen && seen === moment);
  if (place !== -1) return incidents[place + way] ?? null;
  if (way === 1) return incidents.find(({ seen }) => seen > moment) ?? null;
  return incidents.findLast(({ seen }) => seen < moment) ?? null;
}

/** The incident that a moment lies in: the chosen one, or the last that had begun. */
export function incidentAt(incidents: readonly Incident[], moment: number, chosen: string | null): Incident | null {
  const lasting = incidents.filter(({ begin, to }) => begin <= moment && (to === null || to > moment));
  return lasting.find(({ id }) => id === chosen) ?? lasting.at(-1) ?? null;
}
