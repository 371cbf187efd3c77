import type { Change } from './api/activity';
import { called, type Called } from './names';
import { at, type Route } from './route';

/** The changes of one day, newest first. */
export interface Day {
  /** Its date, which names it. */
  readonly key: string;
  readonly title: string;
  readonly changes: readonly Change[];
}

const DAY_MS = 86_400_000;

/** Changes under the days on which they were, by the clock on the wall of whoever looks. */
export function days(changes: readonly Change[], now: number, zone?: string): Day[] {
  const date = new Intl.DateTimeFormat('en-CA', inZone({ dateStyle: 'short' }, zone));
  const keys = { today: date.format(now), yesterday: date.format(now - DAY_MS) };
  const found = new Map<string, Change[]>();
  for (const change of changes) {
    const key = date.format(Date.parse(change.at));
    const known = found.get(key);
    if (known === undefined) found.set(key, [change]);
    else known.push(change);
  }
  return [...found].map(([key, held]) => ({
    key,
    title: dayTitle(key, keys, held[0]?.at ?? '', zone),
    changes: held,
  }));
}

/** The time of day of a change. */
export function clock(iso: string, zone?: string): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return iso;
  return new Intl.DateTimeFormat('en-GB', inZone({ timeStyle: 'medium' }, zone)).format(time);
}

/** What changed: "Orders", or "Orders database of Orders" with the name by which Orders reports it. */
export function subject({ service_name, dependency_name, canonical_name }: Named): Called & {
  readonly of: string | null;
} {
  if (dependency_name === null) return { name: service_name, of: null, as: null };
  return { ...called(canonical_name ?? dependency_name, dependency_name), of: service_name };
}

type Named = Pick<Change, 'service_name' | 'dependency_name' | 'canonical_name'>;

/** Where what changed is shown. */
export function changedAt({ service_id, dependency_id }: Pick<Change, 'service_id' | 'dependency_id'>): Route {
  const service = at('service', { id: service_id });
  return dependency_id === null ? service : { ...service, row: dependency_id, inspector: true };
}

function dayTitle(
  key: string,
  { today, yesterday }: { today: string; yesterday: string },
  iso: string,
  zone?: string,
): string {
  if (key === today) return 'Today';
  if (key === yesterday) return 'Yesterday';
  const parts = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  return new Intl.DateTimeFormat('en-GB', inZone(parts, zone)).format(Date.parse(iso));
}

function inZone(options: Intl.DateTimeFormatOptions, zone?: string): Intl.DateTimeFormatOptions {
  return zone === undefined ? options : { ...options, timeZone: zone };
}
