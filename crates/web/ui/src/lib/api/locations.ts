import { read, type Answer, type Body } from './client';

/** How a service is, seen from one place. */
export interface Place {
  /** Null is the server itself. */
  readonly worker_id: string | null;
  readonly worker: string;
  readonly region: string | null;
  readonly net_id: string | null;
  readonly net: string | null;
  /** What looks: a poll of the service, or a journey that crosses it. */
  readonly kind?: string;
  readonly check?: string | null;
  readonly status: string;
  readonly since: string;
  readonly checked_at: string | null;
  readonly latency_ms: number | null;
  readonly error: string | null;
}

/** A time at which a worker found it otherwise than before. */
export interface PlaceChange {
  readonly number: number;
  readonly at: string;
  readonly worker_id: string;
  readonly worker: string;
  readonly net_id: string;
  readonly net: string;
  readonly kind: string;
  readonly check: string;
  readonly status: string;
  readonly error: string | null;
}

export interface Places {
  readonly items: readonly Place[];
  readonly changes: readonly PlaceChange[];
}

export const LOCATION_EVENT = 'location_status_changed';

export function readPlaces(service: string): Promise<Answer<Places>> {
  return read(`/api/services/${encodeURIComponent(service)}/locations`, isPlaces);
}

function isPlaces(body: Body): body is Body & Places {
  return Array.isArray(body['items']) && Array.isArray(body['changes']);
}
