import { describe, expect, it } from 'vitest';
import type { Change } from './api/activity';
import { format } from './route';
import { followersText, turnsOf } from './turns';

let number = 0;
const change = (second: number, service: string, current: string, dependency: string | null = null, canonical = dependency): Change => {
  number += 1;
  return {
    id: String(number),
    at: new Date(Date.parse('2026-11-15T21:00:00Z') + second * 1_000).toISOString(),
    service_id: service.toLowerCase(),
    service_name: service,
    dependency_id: dependency === null ? null : `${service}-${dependency}`.toLowerCase(),
    dependency_name: dependency,
    canonical_name: canonical,
    previous: current === 'healthy' ? 'down' : 'healthy',
    current,
  };
};
const told = (changes: readonly Change[], causeOf?: (service: string) => string | null) =>
  turnsOf(changes, causeOf).map(({ name, current, followers, because }) => [
    `${name} ${current ?? ''}`,
    followers.join(),
    ...(because === null ? [] : [`because of ${because}`]),
  ]);

describe('changes by their causes', () => {
  it('are one line for what many report by many names, with who followed', () => {
    const changes = [
      change(0, 'Catalog', 'degraded', 'db', 'PostgreSQL main'),
      change(0, 'Catalog', 'degraded'),
      change(3, 'Ledger', 'down', 'postgres-main', 'PostgreSQL main'),
      change(3, 'Ledger', 'degraded'),
      change(5, 'Payments', 'degraded', 'LedgerApi', 'Ledger'),
      change(5, 'Payments', 'degraded'),
    ];
    expect(told(changes.toReversed())).toEqual([['PostgreSQL main down', 'Catalog,Ledger,Payments']]);
  });

  it('keep moments and what got better apart', () => {
    const changes = [
      change(0, 'Shop', 'down', 'db'),
      change(0, 'Shop', 'degraded'),
      change(30, 'Shop', 'healthy', 'db'),
      change(30, 'Shop', 'healthy'),
      change(600, 'Mail', 'down'),
    ];
    expect(told(changes)).toEqual([
      ['Mail down', ''],
      ['db healthy', 'Shop'],
      ['db down', 'Shop'],
    ]);
  });

  it('name the cause of a service that does not answer and so tells nothing', () => {
    const cause = (service: string) => (service === 'orders' ? 'PostgreSQL main' : null);
    const alone = [change(0, 'Orders', 'down')];
    expect(told(alone, cause)).toEqual([['Orders down', '', 'because of PostgreSQL main']]);
    const both = [...alone, change(2, 'Ledger', 'down', 'pg', 'PostgreSQL main')];
    expect(told(both, cause)).toEqual([['PostgreSQL main down', 'Orders']]);
  });

  it('are one line for all of whom nothing was known', () => {
    const known = (service: string) => ({ ...change(9, service, 'healthy'), previous: 'unknown' });
    const changes = [change(0, 'Shop', 'unknown'), change(2, 'Mail', 'unknown'), known('Shop'), known('Mail')];
    expect(told(changes)).toEqual([
      ['Shop healthy', 'Mail'],
      ['Shop unknown', 'Mail'],
    ]);
  });

  it('call a service as it calls itself', () => {
    const changes = [change(0, 'Gateway', 'degraded', 'invoices'), change(1, 'Invoices', 'degraded'), change(1, 'Invoices', 'down', 'db')];
    expect(told(changes)).toEqual([['db down', 'Invoices']]);
  });

  it('lead to what changed', () => {
    const leads = (one: Change) => turnsOf([one]).map((turn) => format(turn.leads));
    expect(leads(change(0, 'Shop', 'down', 'db', 'Orders DB'))).toEqual(['/graph/thing?node=external%3Aorders+db']);
    expect(leads(change(0, 'Shop', 'down'))).toEqual(['/services/shop']);
  });
});

it('tells who followed in a few words', () => {
  expect(followersText({ followers: [], current: 'down' })).toBe('');
  expect(followersText({ followers: ['A', 'B'], current: 'down' })).toContain('because of it: ');
  expect(followersText({ followers: ['A', 'B', 'C', 'D', 'E'], current: 'healthy' })).toMatch(/^with it: .*and 2 more$/);
});
