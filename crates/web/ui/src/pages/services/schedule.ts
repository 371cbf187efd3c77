import type { Schedule, ServiceDetail } from '../../lib/api/services';
import { grouped } from '../../lib/time';

/** Why it is polled now or not, in a sentence. */
export function reasonOf({ is_active, schedule }: Pick<ServiceDetail, 'is_active' | 'schedule'>): string {
  if (!is_active) return 'It is not active: nobody polls it until it is activated again.';
  return schedule?.reason ?? 'Nobody has polled it yet: it is new, or its headers can’t be opened, which the log tells.';
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
