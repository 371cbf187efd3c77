import { describe, expect, it } from 'vitest';
import type { Service } from './api/services';
import type { LiveEvent } from './live/messages';
import {
  breakerText,
  countsOf,
  serviceWord,
  told,
  whyText,
} from './services';

const NONE = { healthy: 0, degraded: 0, down: 0, unknown: 0, skipped: 0 };

function service(id: string, more: Partial<Service> = {}): Service {
  return {
    id,
    name: id,
    team: null,
    health_endpoint: 'http://127.0.0.1/health',
    format: 'proactive-deps',
    schema_config: null,
    poll_interval_ms: 30_000,
    timeout_ms: 10_000,
    header_names: [],
    is_active: true,
    status: 'healthy',
    status_since: '2026-01-01T00:00:00.000Z',
    failing_since: null,
    last_poll: null,
    breaker: { state: 'closed', failures: 0, retry_at: null },
    next_poll_at: null,
    dependency_counts: NONE,
    poll_warnings: [],
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

const event = (type: string, fields: object): LiveEvent => ({
  type,
  seq: 1,
  stream: 'org',
  at: '2026-01-01T12:00:00.000Z',
  ...fields,
});

describe('an event', () => {
  it('is told aloud when it is a change of status', () => {
    const down = { service_id: 'a', service_name: 'Orders', current: 'down' };
    expect(told(event('service:status', down))).toBe('Orders is down');
    expect(told(event('service:updated', down))).toBeNull();
  });
});

describe('words', () => {
  it('say that a service is not polled on purpose', () => {
    expect(serviceWord(service('a', { status: 'unknown' }))).toBe('unknown');
    expect(serviceWord(service('a', { status: 'unknown', is_active: false }))).toBe('inactive');
  });

  it.each([
    ['closed', 0, 'closed'],
    ['closed', 1, 'closed, 1 failure in a row'],
    ['open', 10, 'open after 10 failures'],
    ['half_open', 10, 'half open: the next poll decides'],
  ] as const)('tell a breaker that is %s after %i', (state, failures, text) => {
    expect(breakerText({ state, failures })).toBe(text);
  });
});

describe('why a service is not healthy', () => {
  const last_poll = { at: '', success: true, error: null, latency_ms: 1 };
  it.each([
    [{ last_poll: { ...last_poll, error: { kind: 'dns', message: 'No such name' } } }, 'No such name'],
    [{ last_poll: null }, 'not polled yet'],
    [{ last_poll, dependency_counts: { ...NONE, down: 2, degraded: 1, healthy: 3 } }, 'of what it leans on, 2 down and 1 degraded'],
    [{ last_poll, status: 'unknown' as const }, 'not polled for too long'],
    [{ last_poll }, ''],
  ])('of %o is said', (more, text) => {
    expect(whyText(service('a', more))).toBe(text);
  });
});

describe('counts', () => {
  it('have the worst first and leave out what none has', () => {
    const counts = { ...NONE, healthy: 5, down: 2, skipped: 1 };
    expect(countsOf(counts).map(({ status, count }) => [status, count])).toEqual([
      ['down', 2],
      ['healthy', 5],
      ['skipped', 1],
    ]);
  });
});
