import { describe, expect, it } from 'vitest';
import type { Said } from './document';
import { beside, dayOf, FOLD_FROM, folded, MATCH_MS, momentsOf, timeOf, type Row } from './timelines';

const said = (at: string | null, what: string): Said => ({ at, what, evidence: [] });
const recorded = (...entries: [at: string, what: string][]) => ({
  from: '2026-11-15T20:00:00Z',
  to: '2026-11-15T22:00:00Z',
  covered: undefined,
  entries: entries.map(([at, what]) => ({ at, what })),
});
/** The axis in words: "call | recorded" in each line. */
const drawn = (rows: readonly Row[]) =>
  rows.map(({ said, recorded }) =>
    [said, recorded].map((side) => side.map(({ what }) => what).join(', ')).join(' | '),
  );

describe('a time of the call', () => {
  it.each([
    ['2026-11-15T21:00:00Z', true],
    ['2026-11-15T21:00:00.123+01:00', true],
    ['2026-11-15 21:00Z', true],
    ['2026-11-15T21:00:00', false],
    ['00:04:10', false],
    ['21:04', false],
    ['around nine', false],
    ['2026-99-99T21:00:00Z', false],
  ])('%s is on the axis: %s', (at, is) => {
    expect(timeOf(at) !== null).toBe(is);
  });
  it('is none where nobody said one', () => {
    expect(timeOf(null)).toBeNull();
  });
});

describe('two timelines', () => {
  it('stand on one axis, matched by time', () => {
    const got = beside(
      [said('2026-11-15T21:00:00Z', 'pages fail'), said('2026-11-15T21:10:00Z', 'rolled back')],
      recorded(
        ['2026-11-15T20:30:00Z', 'deploy'],
        ['2026-11-15T20:59:30Z', 'db down'],
        ['2026-11-15T21:00:40Z', 'shop down'],
        ['2026-11-15T21:05:00Z', 'queue down'],
        ['2026-11-15T21:10:00Z', 'db healthy'],
      ),
    );
    expect(got.kind === 'axis' && drawn(got.rows)).toEqual([
      ' | deploy',
      'pages fail | db down, shop down',
      ' | queue down',
      'rolled back | db healthy',
    ]);
  });

  it('match what is closest, and nothing that is too far', () => {
    const at = Date.parse('2026-11-15T21:00:00Z');
    const iso = (ms: number) => new Date(at + ms).toISOString();
    const got = beside(
      [said(iso(0), 'one'), said(iso(60_000), 'two')],
      recorded([iso(40_000), 'a'], [iso(60_000 + MATCH_MS), 'b'], [iso(60_001 + MATCH_MS), 'c']),
    );
    expect(got.kind === 'axis' && drawn(got.rows)).toEqual(['one | ', 'two | a, b', ' | c']);
  });

  it('keep what has no time behind what was said before it', () => {
    const got = beside(
      [
        said('00:00:05', 'hello'),
        said('2026-11-15T21:00:00Z', 'pages fail'),
        said(null, 'all of them'),
        said('2026-11-15T20:50:00Z', 'it began'),
      ],
      recorded(['2026-11-15T20:50:00Z', 'db down']),
    );
    expect(got.kind === 'axis' && drawn(got.rows)).toEqual([
      'hello | ',
      'it began | db down',
      'pages fail, all of them | ',
    ]);
  });

  it('stand apart where the call tells no time of day', () => {
    const got = beside([said('00:00:05', 'hello')], recorded(['2026-11-15T20:50:00Z', 'db down']));
    expect(got).toMatchObject({ kind: 'apart', recorded: [{ what: 'db down' }] });
  });

  it('are one where nothing was asked for', () => {
    expect(beside([said(null, 'x')], null).kind).toBe('alone');
  });
});

it('tells what was seen together as one moment, what says most first', () => {
  const entry = (time: number, what: string) => ({ time, what });
  const told = [
    entry(0, 'service A became down'),
    entry(0, 'service A says that its dependency db is down'),
    entry(10, 'service B says that its dependency db is down'),
    entry(20, 'service B became down'),
    entry(900, 'root cause then: db'),
    entry(1_000, 'service C became down'),
  ];
  const all = [
    'root cause then: db',
    'service A became down',
    'service B became down',
    'service A says that its dependency db is down',
    'service B says that its dependency db is down',
  ];
  expect(momentsOf(told)).toEqual([
    { time: 0, brief: ['root cause then: db', 'A and B became down'], all },
    { time: 1_000, brief: ['service C became down'], all: ['service C became down'] },
  ]);
  // A single one more is not worth a fold.
  expect(momentsOf(told.slice(0, 4))[0]?.brief).toHaveLength(4);
  expect(momentsOf([])).toEqual([]);
});

it('says of many services that changed alike how many they are', () => {
  const entries = (...names: string[]) => names.map((name) => ({ time: 0, what: `service ${name} became degraded` }));
  expect(momentsOf(entries('A', 'B', 'C', 'D', 'E', 'F'))[0]?.brief).toEqual(['A, B, C and 3 more services became degraded']);
  const mixed = [...entries('A', 'B', 'C', 'D'), { time: 0, what: 'service E became down' }, { time: 0, what: 'the breaker of service E opened' }];
  expect(momentsOf(mixed)[0]?.brief).toEqual([
    'A, B, C and D became degraded',
    'service E became down',
    'the breaker of service E opened',
  ]);
});

it('tells what most say where there is nothing else', () => {
  const said = [
    'service X says that its dependency mail is degraded',
    'service A says that its dependency PostgreSQL main (db) is down',
    'service B says that its dependency PostgreSQL main (b-db) is down',
    ...['C', 'D', 'E'].map((name) => `service ${name} says that its dependency PostgreSQL main is down`),
  ];
  const [moment] = momentsOf(said.map((what) => ({ time: 0, what })));
  expect(moment).toEqual({
    time: 0,
    brief: ['PostgreSQL main is down, say A, B, C and 2 more services', 'service X says that its dependency mail is degraded'],
    all: said,
  });
});

it('puts what was only recorded, and seen together, into one line', () => {
  const got = beside(
    [said('2026-11-15T21:00:00Z', 'pages fail')],
    recorded(['2026-11-15T21:10:00.000Z', 'a'], ['2026-11-15T21:10:00.400Z', 'b'], ['2026-11-15T21:11:00Z', 'c']),
  );
  expect(got.kind === 'axis' && drawn(got.rows)).toEqual(['pages fail | ', ' | a, b', ' | c']);
});

it('folds many recorded changes between two of the call', () => {
  const row = (what: string, side: 'said' | 'recorded'): Row => ({
    time: 0,
    said: side === 'said' ? [said(null, what)] : [],
    recorded: side === 'recorded' ? [{ time: 0, what }] : [],
  });
  const run = (count: number) => Array.from({ length: count }, () => row('r', 'recorded'));
  const kinds = (rows: Row[]) => folded(rows).map(({ kind }) => kind);
  expect(kinds([...run(FOLD_FROM - 1), row('s', 'said')])).toEqual(Array(FOLD_FROM).fill('row'));
  expect(kinds([row('s', 'said'), ...run(FOLD_FROM), row('s', 'said'), ...run(1)])).toEqual([
    'row',
    'many',
    'row',
    'row',
  ]);
});

it.each([
  ['2026-11-20', '20 Nov 2026'],
  ['2026-11-20T10:00:00Z', null],
  ['2026-13-40', null],
  ['by Friday', null],
])('%s is a day: %s', (at, day) => {
  expect(dayOf(at)).toBe(day);
});

it('tells of many services that could not be polled in one line', () => {
  const lost = (name: string) => ({ time: 0, what: `service ${name} could not be polled: its dependencies are not known` });
  const back = (name: string) => ({ time: 0, what: `service ${name} could be polled again` });
  const names = ['A', 'B', 'C', 'D', 'E'];
  expect(momentsOf(names.map(lost))[0]?.brief).toEqual([
    'A, B, C and 2 more services could not be polled: their dependencies are not known',
  ]);
  expect(momentsOf([...names.map(back), lost('F')])[0]?.brief).toEqual([
    'A, B, C and 2 more services could be polled again',
    'service F could not be polled: its dependencies are not known',
  ]);
});
