import { describe, expect, it } from 'vitest';
import { find, FOUND_LIMIT, type Findable } from './find';
import { LONG, quickest } from './quickest';

const item = (title: string, more: Partial<Findable> = {}): Findable => ({
  title,
  key: title.toLowerCase(),
  words: '',
  rank: 0,
  ...more,
});
const items = [
  item('Orders'),
  item('Reorder desk'),
  item('Old orders'),
  item('Ledger'),
  item('payments-ledger'),
  item('Go to System', { key: 'system', words: 'health checks version' }),
];
const titles = (needle: string) => find(needle, items).map(({ title }) => title);

describe('finding', () => {
  it.each([
    ['', []],
    ['  ', []],
    ['order', ['Orders', 'Old orders', 'Reorder desk']],
    ['ORDER', ['Orders', 'Old orders', 'Reorder desk']],
    ['ledger', ['Ledger', 'payments-ledger']],
    ['pay led', ['payments-ledger']],
    ['sys', ['Go to System']],
    ['checks', ['Go to System']],
    ['pmldg', ['payments-ledger']],
    ['zzz', []],
  ])('%s', (needle, expected) => {
    expect(titles(needle)).toEqual(expected);
  });

  it('puts what matters more before its equals', () => {
    const equal = [item('shard 1', { rank: 3 }), item('shard 2', { rank: 1 })];
    expect(find('shard', equal).map(({ title }) => title)).toEqual(['shard 2', 'shard 1']);
  });

  it('gives the best of very many', LONG, () => {
    const many = Array.from({ length: 5_000 }, (_, at) => item(`service ${String(at)}`));
    const took = quickest(() => {
      expect(find('s', many)).toHaveLength(FOUND_LIMIT);
      expect(find('service 49', many)[0]?.title).toBe('service 49');
      expect(find('svc49', many)[0]?.title).toBe('service 49');
    });
    expect(took).toBeLessThan(150);
  });
});
