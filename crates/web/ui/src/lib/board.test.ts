import { describe, expect, it } from 'vitest';
import { linesOf, patched, patchOf, withPatches } from './board';
import { item, line } from './board-sample';

const event = (type: string, more: object = {}) => ({
  type,
  seq: 1,
  stream: 'org',
  at: '2026-01-01T13:00:00.000Z',
  service_id: 'orders',
  ...more,
});

describe('the lines of a board', () => {
  it('know their places by name, with numbers as numbers', () => {
    const lines = linesOf([item('svc 10'), item('Alpha'), item('svc 9')], []);
    expect(lines.map(({ order }) => order)).toEqual([2, 0, 1]);
  });

  it('stay the same objects when nothing changed', () => {
    const items = [item('Orders'), item('Billing', { team: 'Money' })];
    const before = linesOf(items, []);
    const after = linesOf([item('Orders'), item('Billing', { team: 'Money', p95_ms: 7 })], before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[1]?.p95).toBe(7);
  });

  it('put those without a team after the teams', () => {
    const lines = linesOf([item('A'), item('B', { team: 'Zoo' }), item('C', { team: 'Bar' })], []);
    expect(lines.map(({ teamOrder }) => teamOrder)).toEqual([2, 1, 0]);
  });
});

describe('what an event tells', () => {
  it.each([
    ['service:status', { current: 'down' }, { status: { is: 'down', since: '2026-01-01T13:00:00.000Z' } }],
    ['service:status', { current: 'on fire' }, undefined],
    ['circuit:open', {}, { breaker: 'open' }],
    ['circuit:half_open', {}, { breaker: 'half_open' }],
    ['circuit:close', {}, { breaker: 'closed' }],
    ['service:started', {}, { active: true }],
    ['service:stopped', {}, { active: false }],
    ['service:stopped', { removed: true }, { gone: true }],
    ['service:updated', {}, undefined],
    ['dependency:status', { current: 'down' }, undefined],
  ])('%s %o', (type, more, patch) => {
    expect(patchOf(event(type, more))?.patch).toEqual(patch);
  });

  it('is nothing without a service', () => {
    expect(patchOf(event('circuit:open', { service_id: 7 }))).toBeNull();
  });

  it('does not overrule what was read later', () => {
    const read = line('Orders', { status_since: '2026-01-01T13:00:05.000Z' });
    const heard = { status: { is: 'down', since: '2026-01-01T13:00:00.000Z' } } as const;
    expect(patched(read, heard).status).toBe('healthy');
    expect(patched(line('Orders'), heard).status).toBe('down');
  });

  it('moves, drops and leaves alone', () => {
    const lines = linesOf([item('A'), item('B'), item('C')], []);
    const after = withPatches(lines, new Map([['a', { gone: true }], ['b', { breaker: 'open' as const }]]));
    expect(after.map(({ name, breaker }) => [name, breaker])).toEqual([['B', 'open'], ['C', 'closed']]);
    expect(after[1]).toBe(lines[2]);
  });
});
