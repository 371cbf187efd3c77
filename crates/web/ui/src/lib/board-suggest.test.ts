import { describe, expect, it } from 'vitest';
import { suggest, taken } from './board-suggest';

const names = { teams: ['Payments', 'Pay desk', 'Shop'], things: ['postgres-main', 'Redis', 'Orders database', 'the "big" one'] };
const texts = (filter: string, caret = filter.length) =>
  suggest(filter, caret, names).options.map(({ text }) => text);

describe('suggestions', () => {
  it.each([
    ['st', ['status:']],
    ['de', ['dep:', 'status:degraded ']],
    ['-sta', ['-status:']],
    ['pa', ['team:Payments ', 'team:"Pay desk" ']],
    ['p9', ['p95>', 'p95<']],
    ['status:', ['status:down ', 'status:degraded ', 'status:unknown ', 'status:healthy ', 'status:inactive ']],
    ['status:de', ['status:degraded ']],
    ['status:down,de', ['status:down,degraded ']],
    ['-is:w', ['-is:warning ']],
    ['dep:post', ['dep:postgres-main ']],
    ['dep:data', ['dep:"Orders database" ']],
    ['dep:big', [String.raw`dep:"the \"big\" one" `]],
    [String.raw`dep:"the \"bi`, [String.raw`dep:"the \"big\" one" `]],
    [String.raw`dep:"the \"big\" one",red`, [String.raw`dep:"the \"big\" one",Redis `]],
    ['team:pay', ['team:Payments ', 'team:"Pay desk" ']],
    ['status:down', []],
    ['status:down ', []],
    ['p95>3', []],
    ['nothing', []],
  ])('%s', (filter, expected) => {
    expect(texts(filter)).toEqual(expected);
  });

  it('begin with every key', () => {
    expect(texts('')).toContain('status:');
    expect(texts('')).toHaveLength(8);
  });

  it('take the place of the word that is written, and leave the rest', () => {
    const filter = 'ledger st team:pay';
    const found = suggest(filter, 9, names);
    const [first] = found.options;
    expect(first && taken(filter, found, first)).toEqual({ filter: 'ledger status: team:pay', caret: 14 });
  });

  it('leave one space behind a value', () => {
    const found = suggest('is:ro ledger', 5, names);
    const [first] = found.options;
    expect(first && taken('is:ro ledger', found, first)).toEqual({ filter: 'is:root ledger', caret: 8 });
  });
});
