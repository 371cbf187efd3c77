import { expect, it } from 'vitest';
import type { Dependency } from './api/dependencies';
import type { NodeReport } from './api/graph';
import { factsOf } from './thing';

const node = { id: 'external:orders database', kind: 'external' as const, name: 'Orders database', status: 'down' as const };
const report = (service_name: string, more: Partial<Dependency>): NodeReport => ({
  service_name,
  dependency: {
    name: 'orders-db',
    type: 'database',
    status: 'down',
    impact: null,
    contact: null,
    description: null,
    latency_ms: null,
    error_message: null,
    ...more,
  } as Dependency,
});

it('puts together what everybody says of a thing', () => {
  const facts = factsOf({
    node,
    reports: [
      report('Orders', { error_message: 'refused', latency_ms: 12 }),
      report('Ledger', { error_message: ' refused ', name: 'pg', contact: { slack: '#db' }, latency_ms: 900 }),
      report('Mail', { error_message: 'an old text', status: 'healthy', impact: 'No mail', name: 'ORDERS database' }),
      report('Shop', { status: 'degraded' }),
      report('Till', { status: 'unknown', latency_ms: 1 }),
    ],
  });
  expect(facts).toEqual({
    errors: [{ text: 'refused', by: ['Orders', 'Ledger'] }],
    impact: 'No mail',
    description: null,
    contact: { slack: '#db' },
    types: ['database'],
    names: ['orders-db', 'pg'],
    latency: expect.stringMatching(/^12\.0.ms to 900.ms$/) as string,
  });
});

it('has little to say where nobody says anything', () => {
  expect(factsOf({ node, reports: [] })).toMatchObject({ errors: [], names: [], latency: null, types: [] });
});
