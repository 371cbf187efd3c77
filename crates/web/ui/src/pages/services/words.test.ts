import { describe, expect, it } from 'vitest';
import type { Dependency } from '../../lib/api/dependencies';
import type { Schedule } from '../../lib/api/services';
import { byWorst, errorText, jsonText, messageOf, noneText, rangeOf } from './dependencies';
import { pollText } from './poll';
import { backoffText, hostText, pollerText, reasonOf } from './schedule';
import { attempt } from './trial';

const dependency = (more: Partial<Dependency>): Dependency =>
  ({ error: null, error_message: null, description: null, ...more }) as Dependency;
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

  it('that recovered has no error', () => {
    expect(errorText({ at: '', error: null, error_message: null })).toBeNull();
    expect(errorText({ at: '', error: false, error_message: null })).toBe('false');
    expect(jsonText('plain')).toBe('plain');
  });

  it('is looked back at for an hour unless the address says otherwise', () => {
    expect([rangeOf(undefined), rangeOf('7d'), rangeOf('9y')]).toEqual(['1h', '7d', '1h']);
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
