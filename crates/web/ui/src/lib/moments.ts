import type { Moment } from './api/activity';
import { isUnhealthy } from './graph/causes';
import { isolated } from './isolate';
import { grouped } from './time';

const MOST_NAMED = 3;

/** What it was, one after the other: "healthy", "degraded", "down". */
export function pathOf({ path }: Pick<Moment, 'path'>): { readonly before: string[]; readonly after: string } {
  const words = path.map((status) => status ?? 'new');
  return { before: words.slice(0, -1), after: words.at(-1) ?? 'unknown' };
}

/** "5 because of it: Orders, Catalog, Ledger and 2 more"; empty when nobody followed. */
export function followersText(moment: Pick<Moment, 'followers' | 'follower_count' | 'path'>): string {
  const { followers, follower_count: count } = moment;
  if (count === 0) return '';
  const named = followers.slice(0, MOST_NAMED).map(isolated);
  const more = count - named.length;
  const all = more > 0 ? `${named.join(', ')} and ${grouped(more)} more` : named.join(', ');
  return `${grouped(count)} ${isWorse(moment) ? 'because of it' : 'more changed with it'}: ${all}`;
}

/** Something that fails this often in an hour does not stay as it is for long. */
const UNSTABLE_FALLS = 3;
const HOUR_MS = 3_600_000;
/** So many moments the server tells; what was before is not among them. */
const MOST_TOLD = 10;

/** "failed 4 times in the last hour", of what keeps failing and coming back; null where it does not. */
export function unstableText(
  { nodes }: { readonly nodes: readonly { readonly id: string }[] },
  moments: readonly Pick<Moment, 'at' | 'nodes' | 'path'>[],
  now: number,
): string | null {
  const ids = new Set(nodes.map(({ id }) => id));
  const recent = moments.filter(({ at }) => Date.parse(at) > now - HOUR_MS);
  const own = recent.filter((moment) => moment.nodes.some(({ id }) => ids.has(id)));
  const falls = own.reduce((sum, { path }) => sum + fallsIn(path), 0);
  if (falls < UNSTABLE_FALLS) return null;
  return `failed ${recent.length < MOST_TOLD ? '' : 'at least '}${grouped(falls)} times in the last hour`;
}

function fallsIn(path: Moment['path']): number {
  return path.filter((status, place) => isUnhealthy(status ?? '') && path[place - 1] === 'healthy').length;
}

/** What came after is worse than what was before. */
function isWorse({ path }: Pick<Moment, 'path'>): boolean {
  return isUnhealthy(path.at(-1) ?? '') && !(path[0] === 'down' && path.at(-1) === 'degraded');
}
