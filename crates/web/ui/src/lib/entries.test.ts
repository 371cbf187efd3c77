import { expect, it } from 'vitest';
import { journeyEntry, netEntry, rankOf, workerEntry } from './entries';
import { find } from './find';
import { net, worker } from './fleet/sample';
import { format } from './route';

const buy = { id: 'j1', name: 'Buy a thing', outcome: 'failed', not_run_since: null, is_enabled: true, touches: ['Checkout'] } as const;
const entries = [
  journeyEntry({ ...buy, touches: [...buy.touches] }),
  workerEntry(worker('w1', { name: 'Tokyo-1', region: 'nrt' })),
  netEntry(net('n1', { name: 'shop-nrt' }), { name: 'Tokyo-1' }),
  netEntry(net('n2', { name: 'shop-spare', load_state: 'unloaded', definition: {} }), undefined),
];
const found = (needle: string) => find(needle, entries).map(({ title }) => title);

it('leads to journeys, workers and nets, each with how it is', () => {
  expect(entries.map(({ about, status }) => [about, status])).toEqual([
    ['journey, failing', 'down'],
    ['worker, ready · nrt', 'healthy'],
    ['net, loaded · Tokyo-1', 'healthy'],
    ['net, unloaded · no worker', 'skipped'],
  ]);
  expect(entries.map(({ leads }) => format(leads))).toEqual([
    '/journeys/j1',
    '/fleet?row=w1&inspector=open',
    '/nets?row=n1&inspector=open',
    '/nets?row=n2&inspector=open',
  ]);
});

it.each([
  ['buy', ['Buy a thing']],
  ['checkout', ['Buy a thing']],
  ['tokyo', ['Tokyo-1', 'shop-nrt']],
  ['shop', ['shop-nrt', 'shop-spare']],
  ['worker', ['Tokyo-1']],
])('finds by name, by kind and by what belongs to it: %s', (needle, titles) => {
  expect(found(needle)).toEqual(titles);
});

it('puts what is wrong first, and services before all others', () => {
  expect(rankOf('net', 'down')).toBeLessThan(rankOf('net', 'healthy'));
  expect(rankOf('net', 'skipped')).toBeGreaterThan(rankOf('net', 'healthy'));
  expect(rankOf('service', 'skipped')).toBeLessThan(rankOf('thing', 'down'));
  expect(rankOf('journey', 'skipped')).toBeLessThan(rankOf('worker', 'down'));
});
