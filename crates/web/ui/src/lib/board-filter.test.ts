import { describe, expect, it } from 'vitest';
import { linesOf } from './board';
import { passing, query } from './board-filter';
import { boardOrderOf, ordered } from './board-order';
import { item } from './board-sample';
import { quoted } from './board-words';
import { LONG, quickest } from './quickest';

const lines = linesOf(
  [
    item('Asleep', { is_active: false, status: 'unknown' }),
    item('Billing api', { status: 'down', cause: 'affected', team: 'Payments', p95_ms: 20, poll_interval_ms: 10_000 }),
    item('Ledger', { status: 'down', cause: 'root', team: 'Payments', p95_ms: 300, breaker: 'open' }),
    item('Orders', { status: 'degraded', has_warnings: true, team: 'Shop', p95_ms: 1_500, poll_interval_ms: 120_000 }),
    item('Zip:code', { breaker: 'half_open', team: 'Shop floor' }),
  ],
  [],
);
const leaning = new Map([
  ['ledger', 'postgres-main\nkafka'],
  ['orders', 'redis'],
]);
const found = (filter: string, known: typeof leaning | null = leaning) =>
  passing(lines, query(filter), known).map(({ name }) => name[0]).join('');

describe('the filter of the board', () => {
  it.each([
    ['', 'ABLOZ'],
    ['   ', 'ABLOZ'],
    ['LEDG', 'L'],
    ['pay', 'BL'],
    ['pay api', 'B'],
    ['-pay', 'AOZ'],
    ['-', ''],
    ['"billing api"', 'B'],
    ['"billing', 'B'],
    ['"zip:code"', 'Z'],
    ['status:down', 'BL'],
    ['STATUS:Down', 'BL'],
    ['status:d', 'BLO'],
    ['status:down,degraded', 'BLO'],
    ['status:unknown', ''],
    ['status:inactive', 'A'],
    ['-status:healthy', 'ABLO'],
    ['status:', 'ABLOZ'],
    ['team:pay', 'BL'],
    ['team:"shop floor"', 'Z'],
    ['team:pay,shop', 'BLOZ'],
    ['breaker:open', 'L'],
    ['breaker:half-open', 'Z'],
    ['breaker:half', 'Z'],
    ['is:root', 'L'],
    ['is:affected', 'B'],
    ['is:root,affected', 'BL'],
    ['is:warning', 'O'],
    ['is:inactive', 'A'],
    ['-is:inactive', 'BLOZ'],
    ['dep:postgres', 'L'],
    ['-dep:redis', 'ABLZ'],
    ['dep:kafka,redis', 'LO'],
    ['p95>300', 'O'],
    ['p95>=300', 'LO'],
    ['p95<50', 'B'],
    ['p95<1.5s', 'BL'],
    ['-p95>0', 'AZ'],
    ['interval>60s', 'O'],
    ['interval>1m', 'O'],
    ['interval<=10', 'B'],
    ['status:down team:pay p95>100', 'L'],
  ])('%s finds %s', (filter, names) => {
    expect(found(filter)).toBe(names);
    expect(query(filter).hints).toEqual([]);
  });

  it.each([
    ['statsu:down', 'statsu: is not known here. Put it in quotes to look for the words.', 'status:down'],
    ['ledger -tema:pay', 'tema: is not known here. Put it in quotes to look for the words.', 'ledger -team:pay'],
    ['status:dwon', 'status: is one of down, degraded, unknown, healthy, inactive, not dwon.', 'status:down'],
    ['-status:helthy', 'status: is one of down, degraded, unknown, healthy, inactive, not helthy.', '-status:healthy'],
    ['is:warnign api', 'is: is one of root, affected, warning, inactive, active, not warnign.', 'is:warning api'],
    ['colour:blue', 'colour: is not known here. Put it in quotes to look for the words.', null],
    ['breaker:zzz', 'breaker: is one of open, half_open, closed, not zzz.', null],
    ['p95>fast', 'Write it as p95>300 or p95<1.5s.', null],
    ['p95:300', 'Write it as p95>300 or p95<1.5s.', null],
    ['interval>1y', 'Write it as interval>60s or interval<=5m.', null],
    ['status>down', 'Write status:down instead.', null],
  ])('%s hides nothing and says so', (filter, says, better) => {
    const { hints } = query(filter);
    expect(hints.map((hint) => hint.says)).toEqual([says]);
    expect(hints[0]?.better?.filter ?? null).toBe(better);
    if (!filter.includes(' ')) expect(found(filter)).toBe('ABLOZ');
  });

  it('keeps the words that it knows beside one that it does not', () => {
    expect(found('status:down,dwon')).toBe('BL');
    expect(query('status:down,dwon').hints[0]?.better?.filter).toBe('status:down,down');
  });

  it('finds nothing before it is known what leans on what, and asks for it only then', () => {
    expect(found('dep:postgres', null)).toBe('');
    expect(found('-dep:postgres', null)).toBe('');
    expect(query('dep:postgres').leaning).toBe(true);
    expect(query('dep:').leaning).toBe(false);
    expect(query('dep>postgres').leaning).toBe(false);
    expect(query('postgres').leaning).toBe(false);
  });

  it.each([
    'say "hi"',
    '"',
    'a"b',
    String.raw`C:\new`,
    String.raw`ends in \ `,
    String.raw`\"both\"`,
    'with, comma',
    '-minus',
    'p95>3',
    'plain',
  ])('finds %s by its name as it is written for the filter', (name) => {
    const odd = linesOf([item(name, { team: name }), item('Other', { team: 'Else' })], []);
    const named = new Map([[odd[0]?.id ?? '', name.toLowerCase()]]);
    for (const filter of [`name:${quoted(name)}`, `team:nobody,${quoted(name)}`, `dep:${quoted(name)} -name:other`]) {
      expect(passing(odd, query(filter), named).map((one) => one.name), filter).toEqual([name]);
    }
  });

  it('takes few milliseconds for 5 000', LONG, () => {
    const many = linesOf(
      Array.from({ length: 5_000 }, (_, at) => item(`service ${String(at)}`, { team: `team ${String(at % 40)}` })),
      [],
    );
    const sorted = ordered(many, boardOrderOf('name'));
    const took = quickest(() => {
      expect(passing(sorted, query('service -team:39 status:healthy 49'), null)).toHaveLength(196);
    });
    // Far from it here; a machine that is ten times slower keeps it too.
    expect(took).toBeLessThan(50);
  });
});
