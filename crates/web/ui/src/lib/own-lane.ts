import { readActivity, type Change } from './api/activity';
import type { Answer } from './api/client';
import type { Range, Timeline } from './api/dependencies';
import { LIST_LIMIT } from './api/list';
import type { ServiceDetail } from './api/services';
import type { Span } from './axis';
import { RANGE_MS } from './chart';
import { statusOf } from './status';

/** Of who changes more often than this only the newest is told. */
const MOST_PAGES = 5;

type Own = Pick<ServiceDetail, 'status' | 'status_since' | 'created_at'>;
type Turn = Pick<Change, 'at' | 'previous' | 'current'>;

/** How a service itself was in a span, by the newest of its changes. */
export function ownTimeline(changes: readonly Turn[], service: Own, { from, to }: Span): Timeline {
  const inTime = changes.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const begin = Math.max(from, knownSince(inTime[0], service));
  const since = inTime.filter(({ at }) => Date.parse(at) > begin);
  const before = inTime[inTime.length - since.length - 1]?.current ?? since[0]?.previous ?? service.status;
  return {
    from: new Date(begin).toISOString(),
    to: new Date(to).toISOString(),
    initial: statusOf(before),
    transitions: since.map(({ at, current }) => ({ at, status: statusOf(current ?? 'unknown') })),
  };
}

/** Nobody knows how long it had been what it was before the oldest change, unless that was its first. */
function knownSince(oldest: Turn | undefined, { status_since, created_at }: Own): number {
  if (oldest === undefined) return Date.parse(status_since);
  return Date.parse(oldest.previous === 'unknown' ? created_at : oldest.at);
}

/** Reads it: the server keeps what changed. */
export async function readOwnTimeline(
  service: Own & Pick<ServiceDetail, 'id'>,
  range: Range,
  now: number,
): Promise<Answer<Timeline>> {
  const span = { from: now - RANGE_MS[range], to: now };
  const changes: Change[] = [];
  let cursor: string | null = null;
  for (let page = 1; ; page += 1) {
    const answer = await readActivity({ service: service.id, of: 'service' }, cursor, LIST_LIMIT);
    if (!answer.ok) return answer;
    changes.push(...answer.value.items);
    cursor = answer.value.next_cursor ?? null;
    const isThere = Date.parse(changes.at(-1)?.at ?? '') <= span.from;
    if (cursor === null || isThere || page === MOST_PAGES) {
      return { ...answer, value: ownTimeline(changes, service, span) };
    }
  }
}
