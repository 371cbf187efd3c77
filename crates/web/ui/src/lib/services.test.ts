import { describe, expect, it } from 'vitest';
import type { Service } from './api/services';
import type { LiveEvent } from './live/messages';
import {
  breakerText,
  countsOf,
  heard,
  orderOf,
  serviceStatusOf,
  serviceWord,
  sortOf,
  tally,
  told,
  turned,
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

describe('the order of the list', () => {
  it.each([
    [undefined, 'status'],
    ['', 'status'],
    ['name', 'name'],
    ['-name', '-name'],
    ['-last_polled', '-last_polled'],
    ['price', 'status'],
    ['--name', 'status'],
  ])('of %s is %s', (word, sort) => {
    expect(sortOf(orderOf(word))).toBe(sort);
  });

  it('turns around at the second press of a column, and begins anew at another one', () => {
    const first = turned(orderOf('status'), 'name');
    expect(sortOf(first)).toBe('name');
    expect(sortOf(turned(first, 'name'))).toBe('-name');
    expect(sortOf(turned(turned(first, 'name'), 'name'))).toBe('name');
    expect(sortOf(turned(turned(first, 'name'), 'status'))).toBe('status');
  });
});

describe('an event', () => {
  const before = [service('a'), service('b')];

  it('changes the status of its service alone, from its own time on', () => {
    const after = heard(before, event('service:status', { service_id: 'b', current: 'down' }));
    expect(after.map(({ status }) => status)).toEqual(['healthy', 'down']);
    expect(after[1]?.status_since).toBe('2026-01-01T12:00:00.000Z');
    expect(after[0]).toBe(before[0]);
  });

  it('does not make a status younger that is known already', () => {
    const same = event('service:status', { service_id: 'a', current: 'healthy' });
    expect(heard(before, same)).toEqual(before);
  });

  it.each(['exploded', 'skipped', 7, undefined])('with the status %s changes nothing', (current) => {
    expect(heard(before, event('service:status', { service_id: 'a', current }))).toEqual(before);
  });

  it('moves the breaker', () => {
    const open = heard(before, event('circuit:open', { service_id: 'a' }));
    expect(open[0]?.breaker.state).toBe('open');
    expect(heard(open, event('circuit:half_open', { service_id: 'a' }))[0]?.breaker.state).toBe('half_open');
    const closed = heard(open, event('circuit:close', { service_id: 'a' }));
    expect(closed[0]?.breaker).toEqual({ state: 'closed', failures: 0, retry_at: null });
  });

  it('takes a removed service away, and keeps one that is only stopped', () => {
    const stopped = event('service:stopped', { service_id: 'a' });
    expect(heard(before, stopped)).toHaveLength(2);
    const removed = heard(before, { ...stopped, removed: true });
    expect(removed.map(({ id }) => id)).toEqual(['b']);
  });

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

  it('take no status that is none', () => {
    expect(serviceStatusOf('down')).toBe('down');
    expect(serviceStatusOf('skipped')).toBeNull();
    expect(serviceStatusOf(undefined)).toBeNull();
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

  it('of a page that is not the last say that there may be more of its last kind', () => {
    const items = [service('a', { status: 'down' }), service('b'), service('c')];
    const text = (next_cursor: string | null) =>
      tally({ items, next_cursor }).map((part) => `${part.text} ${part.status}`);
    expect(text(null)).toEqual(['1 down', '2 healthy']);
    expect(text('more')).toEqual(['1 down', '2+ healthy']);
  });
});
