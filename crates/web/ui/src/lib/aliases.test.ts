import { describe, expect, it } from 'vitest';
import { byName, changedText, countOf, nameProblem, reasonText, unnamed } from './aliases';
import type { Alias } from './api/aliases';
import type { WallGroup } from './api/board';

const group = (canonical_name: string, healthy: number, down = 0): WallGroup => ({
  canonical_name,
  status: 'healthy',
  since: '',
  failing_since: null,
  counts: { healthy, degraded: 0, down, unknown: 0, skipped: 0 },
  error_message: null,
  reported_by: [],
});
const alias = (name: string, canonical_name: string) => ({ alias: name, canonical_name }) as Alias;

describe('a name', () => {
  it('is needed, and not too long', () => {
    expect(nameProblem(' ', 'alias')).toContain('report');
    expect(nameProblem('', 'canonical')).toContain('stand for');
    expect(nameProblem('x'.repeat(255), 'alias')).toBeNull();
    expect(nameProblem('😀'.repeat(255), 'alias')).toBeNull();
    expect(nameProblem('x'.repeat(256), 'alias')).toContain('256');
  });

  it('is counted whatever its case', () => {
    expect(countOf([group('Orders Database', 2, 1)], 'orders database')).toBe(3);
    expect(countOf([], 'orders database')).toBe(0);
  });

  it('has no alias yet unless it is one, stands for one, or is a service', () => {
    const groups = [group('kafka', 1), group('stripe', 4), group('Orders database', 2), group('Ledger', 3)];
    const left = unnamed(groups, [alias('orders-db', 'orders database')], [{ nameKey: 'ledger' }]);
    expect(left.map(({ canonical_name }) => canonical_name)).toEqual(['stripe', 'kafka']);
  });
});

describe('what an alias changed', () => {
  const orders = { alias: 'orders-db', canonical_name: 'Orders database' };
  it.each([
    [3, '3 dependencies now go by Orders database'],
    [1, '1 dependency now goes by Orders database'],
    [0, 'No service reports orders-db now; whoever does will go by Orders database'],
    [-1, 'No service reports orders-db now; whoever does will go by Orders database'],
  ])('%d', (count, text) => {
    expect(changedText(count, orders)).toBe(text);
  });
});

it('says why a thing may be a service', () => {
  expect(reasonText({ kind: 'same_name' })).toBe('called the same');
  expect(reasonText({ kind: 'similar_name', words: ['orders', 'db'] })).toBe('called alike: orders, db');
  expect(reasonText({ kind: 'same_host', host: 'pay.internal' })).toContain('pay.internal');
});

it('stands with those that go by the same name', () => {
  const all = [alias('redis', 'Redis'), alias('users-db', 'PostgreSQL main'), alias('bus', 'kafka'), alias('DB', 'PostgreSQL main')];
  expect(byName(all).map(({ alias }) => alias)).toEqual(['bus', 'DB', 'users-db', 'redis']);
});
