import type { Place } from '../api/locations';

/** The key of a row: a worker may look by more than one net, and by more than one check. */
export function keyOf({ worker_id: worker, net_id: net, kind, check }: Place): string {
  return [worker ?? 'here', net, kind, check].filter(Boolean).join(' ');
}

/** "well from 3 of 5 places", or that all agree: where they differ is what one wants to know. */
export function agreement(places: readonly Place[]): string {
  const known = places.filter(({ status }) => status !== 'unknown');
  const first = known[0];
  if (first === undefined) return 'not known from anywhere';
  if (known.every(({ status }) => status === first.status)) {
    return known.length === places.length
      ? `${first.status} from all ${String(places.length)} places`
      : `${first.status} from ${String(known.length)} of ${String(places.length)} places`;
  }
  const well = known.filter(({ status }) => status === 'healthy').length;
  return `healthy from ${String(well)} of ${String(places.length)} places`;
}

/** What looks from there, in the words of the page. */
export function lookText({ worker_id: worker, net, kind, check }: Pick<Place, 'worker_id' | 'net' | 'kind' | 'check'>): string {
  if (worker === null) return 'the server itself';
  const by = net ?? '–';
  return kind === 'journey' ? `${by}, journey ${check ?? ''}`.trim() : by;
}
