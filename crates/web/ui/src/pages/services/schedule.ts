import type { Schedule, ServiceDetail } from '../../lib/api/services';
import { breakerText } from '../../lib/services';
import { grouped, span, until } from '../../lib/time';

/** Why it is polled now or not, in a sentence. */
export function reasonOf({ is_active, schedule }: Pick<ServiceDetail, 'is_active' | 'schedule'>): string {
  if (!is_active) return 'It is not active: nobody polls it until it is activated again.';
  return schedule?.reason ?? 'Nobody has polled it yet: it is new, or its headers can’t be opened, which the log tells.';
}

/** When it is polled next, in a few words that count down; without a time, nobody knows any more. */
export function nextText({ is_active, schedule }: Pick<ServiceDetail, 'is_active' | 'schedule'>, now: number | null): string {
  if (!is_active) return 'not polled';
  if (schedule === null) return 'not known yet';
  if (now === null) return 'not known';
  if (schedule.in_flight_since !== null) {
    return `under way for ${span(Math.max(now - Date.parse(schedule.in_flight_since), 0))}`;
  }
  const at = nextAt(schedule);
  if (at > now) return until(at, now);
  return schedule.waits_for_host ? 'waits for its host' : 'now';
}

/** Whether what is known of the next poll has run out, so that there must be something newer. */
export function isOver(service: Pick<ServiceDetail, 'is_active' | 'schedule'> | null, now: number): boolean {
  if (service?.is_active !== true || service.schedule === null) return false;
  return service.schedule.in_flight_since === null && nextAt(service.schedule) + SETTLES_MS < now;
}

/** One of the things that a poll has to pass, in the order in which it does. */
export interface Gate {
  readonly name: string;
  readonly text: string;
  /** When it opens, where that is known. */
  readonly at: string | null;
  /** Whether it holds the poll back for a reason other than the time. */
  readonly shut: boolean;
}

export function gates(schedule: Schedule, now: number): Gate[] {
  const ahead = (at: string | null) => (at !== null && Date.parse(at) > now ? at : null);
  const { due_at, retry_at, breaker, failures, backoff_attempt, waits_for_host } = schedule;
  const probe = ahead(retry_at);
  return [
    { name: 'Due', text: ahead(due_at) === null ? 'now' : '', at: ahead(due_at), shut: false },
    { name: 'Breaker', text: breakerText({ state: breaker, failures }), at: probe, shut: breaker === 'open' },
    { name: 'Backoff', text: backoffText(schedule), at: null, shut: backoff_attempt > 0 },
    { name: 'Host slots', text: hostText(schedule), at: null, shut: waits_for_host },
  ];
}

/** A poll that is due starts with the next group of them, and its result is written a little later. */
const SETTLES_MS = 1_000;

/** The later of what is due and what the breaker lets through. */
function nextAt({ due_at, breaker, retry_at }: Schedule): number {
  const due = Date.parse(due_at);
  return breaker === 'open' && retry_at !== null ? Math.max(due, Date.parse(retry_at)) : due;
}

export function backoffText({ backoff_attempt }: Schedule): string {
  if (backoff_attempt === 0) return 'none';
  return backoff_attempt === 1 ? 'after 1 failure' : `after ${grouped(backoff_attempt)} failures in a row`;
}

/** Which instance polls it. */
export function pollerText(polled_by: ServiceDetail['polled_by']): string {
  if (polled_by === null) return 'nobody now';
  return polled_by.is_this ? `${polled_by.name} (this instance)` : polled_by.name;
}

export function hostText({ host_in_flight, waits_for_host }: Schedule): string {
  if (host_in_flight === null) return '–';
  const polls = host_in_flight === 1 ? '1 poll in flight' : `${grouped(host_in_flight)} polls in flight`;
  return waits_for_host ? `${polls}: it waits for a slot` : polls;
}
