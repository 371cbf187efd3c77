import { describe, expect, it } from 'vitest';
import { comesFirst, deedTitle, wantedIn } from './deeds';

describe('what the palette is asked to do', () => {
  it.each([
    ['poll', { deed: 'poll', sought: '' }],
    ['pol', { deed: 'poll', sought: '' }],
    [' POLL  Orders  API ', { deed: 'poll', sought: 'orders api' }],
    ['show ledger', { deed: 'show', sought: 'ledger' }],
    ['graph ledger', { deed: 'show', sought: 'ledger' }],
    ['', null],
    ['po', null],
    ['pol orders', null],
    ['pollux', null],
    ['orders', null],
  ])('%s', (needle, wanted) => {
    expect(wantedIn(needle)).toEqual(wanted);
  });

  it('is said in whole words', () => {
    expect(deedTitle('poll', 'Orders')).toBe('Poll Orders now');
    expect(deedTitle('show', 'Orders')).toBe('Show Orders in the graph');
  });

  it('leaves the page of the graph before what is shown in it', () => {
    expect(comesFirst({ deed: 'show', sought: '' })).toBe(false);
    expect(comesFirst({ deed: 'show', sought: 'orders' })).toBe(true);
    expect(comesFirst({ deed: 'poll', sought: '' })).toBe(true);
  });
});
