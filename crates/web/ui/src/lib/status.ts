import type { components } from './api/schema';

export type System = components['schemas']['System'];
export type SystemCheck = components['schemas']['SystemCheck'];

/** Every status that the dashboard can draw; what is not known to it is drawn as unknown. */
export const STATUSES = ['healthy', 'degraded', 'down', 'unknown', 'skipped'] as const;
export type Status = (typeof STATUSES)[number];

export const STATUS_MEANS: Record<Status, string> = {
  healthy: 'answers as it should',
  degraded: 'answers, but not as it should',
  down: 'a service that does not answer, or something that its users find broken',
  unknown: 'not looked at yet, or too long ago to trust',
  skipped: 'left out on purpose',
};

export function statusOf(word: string): Status {
  return STATUSES.find((status) => status === word) ?? 'unknown';
}

/** A status as it may be shown: what is too old to trust is unknown, with what it was in words. */
export function shown(word: string, stale: boolean): { status: Status; word: string } {
  return stale ? { status: 'unknown', word: `was ${word}` } : { status: statusOf(word), word };
}

/** What changed between two reports, in words that can be read out; null when nothing did. */
export function changes(before: System | null, after: System): string | null {
  const old = new Map(before?.checks.map((check) => [check.name, check.status]));
  const changed = after.checks.filter(
    ({ name, status }) => old.has(name) && old.get(name) !== status,
  );
  if (changed.length === 0) return null;
  return changed.map(({ name, status }) => `${name} is ${status}`).join(', ');
}
