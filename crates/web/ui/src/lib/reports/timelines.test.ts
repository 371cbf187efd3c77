import { describe, expect, it } from 'vitest';
import type { Said } from './document';
import { beside, FOLD_FROM, folded, MATCH_MS, momentsOf, timeOf, type Row } from './timelines';

const said = (at: string | null, what: string): Said => ({ at, what, evidence: [] });
const recorded = (...entries: [at: string, what: string][]) => ({
  from: '2026-11-15T20:00:00Z',
  to: '2026-11-15T22:00:00Z',
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
    entry(900, 'root causes then: db'),
    entry(1_000, 'service C became down'),
  ];
  expect(momentsOf(told)).toEqual([
    {
      time: 0,
      first: ['root causes then: db', 'service A became down', 'service B became down'],
      rest: [
        'service A says that its dependency db is down',
        'service B says that its dependency db is down',
      ],
    },
    { time: 1_000, first: ['service C became down'], rest: [] },
  ]);
  // A single one more is not worth a fold.
  expect(momentsOf(told.slice(0, 4))[0]?.rest).toEqual([]);
  expect(momentsOf([])).toEqual([]);
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
