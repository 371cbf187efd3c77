import type { Share } from '../api/files';
import type { Option } from '../roles';

/** How long a link may lead to a report, in seconds. */
export const EXPIRIES: readonly Option[] = [
  { value: '3600', title: '1 hour' },
  { value: '86400', title: '1 day' },
  { value: '604800', title: '7 days' },
  { value: '2592000', title: '30 days' },
  { value: '7776000', title: '90 days' },
];
export const DEFAULT_EXPIRY = '604800';

export type ShareStanding = 'open' | 'expired' | 'revoked';

export function shareStanding({ revoked_at, expires_at }: Share, now: number): ShareStanding {
  if (revoked_at !== null) return 'revoked';
  return Date.parse(expires_at) <= now ? 'expired' : 'open';
}

/** What is said to whoever opens a link that leads to no report. */
export function refusedShare(status: number | null): { readonly title: string; readonly says: string } | null {
  if (status === 410) {
    return {
      title: 'This link was taken back.',
      says: 'Whoever shared the report has revoked it. Ask them for another link.',
    };
  }
  if (status === 404) {
    return {
      title: 'This link leads to no report.',
      says: 'It has expired, or was not copied whole. Ask whoever shared it for another.',
    };
  }
  return null;
}
