import type { BoardItem } from './api/board';
import { linesOf, type Line } from './board';

/** For tests: services as the board tells of them. */
export function item(name: string, more: Partial<BoardItem> = {}): BoardItem {
  return {
    id: name.toLowerCase(),
    name,
    team: null,
    is_active: true,
    poll_interval_ms: 30_000,
    status: 'healthy',
    status_since: '2026-01-01T12:00:00.000Z',
    failing_since: null,
    breaker: 'closed',
    p95_ms: null,
    has_warnings: false,
    cause: null,
    dependency_counts: { healthy: 1, degraded: 0, down: 0, unknown: 0, skipped: 0 },
    ...more,
  };
}

export function line(name: string, more: Partial<BoardItem> = {}): Line {
  const [only] = linesOf([item(name, more)], []);
  if (only === undefined) throw new Error('one item is one line');
  return only;
}
