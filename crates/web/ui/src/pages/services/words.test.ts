import { describe, expect, it } from 'vitest';
import type { Dependency } from '../../lib/api/dependencies';
import type { Schedule } from '../../lib/api/services';
import { byWorst, errorDetail, errorsOf, errorText, jsonText, messageOf, noneText, rangeOf, worstAndSlowest } from './dependencies';
import { pollText } from '../../lib/poll';
import { backoffText, gates, hostText, isOver, nextText, pollerText, reasonOf } from './schedule';
import { attempt } from './trial';

const dependency = (more: Partial<Dependency>): Dependency =>
  ({ error: null, error_message: null, description: null, ...more }) as Dependency;
const NOW = Date.parse('2026-01-01T12:00:00Z');
const at = (seconds: number) => new Date(NOW + seconds * 1_000).toISOString();
const schedule = (more: Partial<Schedule>): Schedule =>
  ({ reason: 'It is not due yet.', backoff_attempt: 0, host_in_flight: 0, waits_for_host: false, ...more }) as Schedule;

describe('a dependency', () => {
  it('says what is wrong, or else what it is for', () => {
    const whole = { error_message: 'late', error: { code: 7 }, description: 'Orders' };
    expect(messageOf(dependency(whole))).toBe('late');
    expect(messageOf(dependency({ ...whole, error_message: null }))).toBe('{"code":7}');
    expect(messageOf(dependency({ description: 'Orders' }))).toBe('Orders');
    expect(messageOf(dependency({}))).toBe('');
  });

  it('stands before better ones, and keeps its place among equals', () => {
    const names = [['b', 'healthy'], ['a', 'healthy'], ['c', 'down'], ['d', 'skipped'], ['e', 'degraded']] as const;
    const sorted = byWorst(names.map(([name, status]) => dependency({ name, status })));
    expect(sorted.map(({ name }) => name).join('')).toBe('cebad');
  });

  it.each([
    [[], undefined],
    [[['a', 'healthy', 5], ['b', 'healthy', 80], ['c', 'healthy', null]], 'b'],
    [[['a', 'healthy', 900], ['b', 'degraded', null], ['c', 'degraded', 2]], 'c'],
    [[['a', 'down', null], ['b', 'down', null]], 'a'],
  ] as const)('is looked at first where it is the worst, or else the slowest: %j', (all, name) => {
    const some = all.map(([one, status, latency_ms]) => dependency({ name: one, status, latency_ms }));
    expect(worstAndSlowest(some)?.name).toBe(name);
  });

  it('that recovered has no error', () => {
    expect(errorText({ at: '', status: 'healthy', error: null, error_message: null })).toBeNull();
    expect(errorText({ at: '', status: 'down', error: false, error_message: null })).toBe('false');
    expect(jsonText('plain')).toBe('plain');
  });

  it('says nothing beside its message where it gave no error', () => {
    const item = (error: unknown, error_message: string | null) => errorDetail({ at: '', status: 'down', error, error_message });
    expect(item({ unhealthy: true }, 'timed out')).toBeNull();
    expect(item('refused', null)).toBeNull();
    expect(item({ code: 'ETIMEDOUT' }, 'timed out')).toBe('{"code":"ETIMEDOUT"}');
  });

  it('is looked back at for an hour unless the address says otherwise', () => {
    expect([rangeOf(undefined), rangeOf('7d'), rangeOf('9y')]).toEqual(['1h', '7d', '1h']);
  });
});

describe('the errors of several dependencies', () => {
  it('are told together, newest first, as far back as is asked for', () => {
    const error = (second: number, text: string | null, status: 'degraded' | null = 'degraded') => ({
      at: new Date(second * 1_000).toISOString(),
      status,
      error: null,
      error_message: text,
    });
    const held = { a: { items: [error(30, null), error(10, 'late')] }, b: { items: [error(20, 'gone'), error(16, 'late', null)] } };
    const dependencies = [{ id: 'a', name: 'one' }, { id: 'b', name: 'two' }, { id: 'c', name: 'three' }];
    const told = errorsOf(dependencies, held, 15_000);
    expect(told.map(({ name, text, status }) => [name, text, status])).toEqual([
      ['one', null, 'healthy'],
      ['two', 'gone', 'degraded'],
      ['two', 'late', 'unknown'],
    ]);
    expect(new Set(told.map(({ key }) => key)).size).toBe(3);
  });
});

describe('a service without dependencies says why', () => {
  const last = { at: '', success: true, error: null, latency_ms: 1 };
  it.each([
    ['status', last, 'format is status'],
    ['schema', null, 'not polled yet'],
    ['schema', { ...last, success: false }, 'failed'],
    ['schema', last, 'names nothing'],
  ] as const)('%s, %o', (format, last_poll, says) => {
    expect(noneText({ format, last_poll })).toContain(says);
  });
});

describe('the schedule', () => {
  it('says why it is polled or not', () => {
    expect(reasonOf({ is_active: true, schedule: schedule({}) })).toBe('It is not due yet.');
    expect(reasonOf({ is_active: false, schedule: null })).toContain('not active');
    expect(reasonOf({ is_active: true, schedule: null })).toContain('Nobody has polled it yet');
  });

  it.each([
    [{}, 'in 7 s', false],
    [{ due_at: at(-3) }, 'now', true],
    [{ due_at: at(-3), waits_for_host: true }, 'waits for its host', true],
    [{ in_flight_since: at(-4), due_at: at(-9) }, 'under way for 4 s', false],
    [{ breaker: 'open', retry_at: at(48) }, 'in 48 s', false],
  ] as const)('tells when the next poll is: %o', (more, text, over) => {
    const service = { is_active: true, schedule: schedule({ due_at: at(7), in_flight_since: null, retry_at: null, ...more }) };
    expect(nextText(service, NOW).replaceAll('\u00a0', ' ')).toBe(text);
    expect(isOver(service, NOW)).toBe(over);
  });

  it('has no next poll where nobody polls', () => {
    expect(nextText({ is_active: false, schedule: null }, NOW)).toBe('not polled');
    expect(nextText({ is_active: true, schedule: null }, NOW)).toBe('not known yet');
    expect(nextText({ is_active: true, schedule: schedule({}) }, null)).toBe('not known');
    expect(isOver({ is_active: true, schedule: null }, NOW)).toBe(false);
    expect(isOver(null, NOW)).toBe(false);
  });

  it('says which gates are shut', () => {
    const shut = (more: Partial<Schedule>) =>
      gates(schedule({ due_at: at(7), retry_at: null, breaker: 'closed', failures: 0, ...more }), NOW)
        .filter((gate) => gate.shut)
        .map(({ name }) => name);
    expect(shut({})).toEqual([]);
    expect(shut({ breaker: 'open', failures: 5, backoff_attempt: 5 })).toEqual(['Breaker', 'Backoff']);
    expect(shut({ waits_for_host: true, host_in_flight: 5 })).toEqual(['Host slots']);
  });

  it('names the instance that polls', () => {
    const one = { id: '1', name: 'mainstay-1:7373' };
    expect(pollerText({ ...one, is_this: true })).toBe('mainstay-1:7373 (this instance)');
    expect(pollerText({ ...one, is_this: false })).toBe('mainstay-1:7373');
    expect(pollerText(null)).toBe('nobody now');
    expect(hostText(schedule({ host_in_flight: null }))).toBe('–');
  });

  it('counts failures and polls', () => {
    expect([0, 1, 3].map((backoff_attempt) => backoffText(schedule({ backoff_attempt })))).toEqual([
      'none',
      'after 1 failure',
      'after 3 failures in a row',
    ]);
    expect(hostText(schedule({ host_in_flight: 1 }))).toBe('1 poll in flight');
    expect(hostText(schedule({ host_in_flight: 5, waits_for_host: true }))).toBe('5 polls in flight: it waits for a slot');
  });
});

describe('a poll', () => {
  const answer = { success: true, dependencies_updated: 1, status_changes: [], latency_ms: 120 };
  it('tells what it brought', () => {
    expect(pollText(answer)).toMatch(/^Answered in 120.ms with 1 dependency: nothing changed$/);
    const status_changes = [{ dependency_name: 'db', previous: null, current: 'down' as const }];
    expect(pollText({ ...answer, dependencies_updated: 2, status_changes })).toContain('2 dependencies: db is down');
    const error = { kind: 'dns', message: 'No such name.' };
    expect(pollText({ ...answer, success: false, error })).toBe('The poll failed: No such name.');
  });
});

describe('an attempt', () => {
  const draft = { endpoint: 'http://a/health', format: 'proactive-deps', mapping: '' } as const;
  it('asks the endpoint or reads the sample', () => {
    expect(attempt(draft, 'url', '[]')).toEqual({ trial: { format: 'proactive-deps', url: 'http://a/health' } });
    expect(attempt(draft, 'body', '[]')).toEqual({ trial: { format: 'proactive-deps', body: '[]' } });
  });

  it('takes the mapping along where it is used', () => {
    const mapped = { ...draft, format: 'schema', mapping: '{"root": ""}' } as const;
    expect(attempt(mapped, 'body', '{}')).toEqual({
      trial: { format: 'schema', schema_config: { root: '' }, body: '{}' },
    });
  });

  it('is not made before there is something to try', () => {
    expect(attempt(draft, 'body', '  ')).toHaveProperty('why');
    expect(attempt({ ...draft, endpoint: 'http:/' }, 'url', '')).toHaveProperty('why');
    expect(attempt({ ...draft, format: 'schema', mapping: '{' }, 'body', '[]')).toHaveProperty('why');
  });
});
