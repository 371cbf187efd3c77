import { describe, expect, it } from 'vitest';
import type { HistoryItem } from '../api/graph';
import { Replay } from './replay';
import { item, minute, START, state } from './sample';
import { viewOf } from './then';

const MINUTE = 60_000;
const to = START + 60 * MINUTE;
const LEANS = { Checkout: ['Orders'], Orders: ['Orders database'], Search: ['Orders database'] };

function replay(items: HistoryItem[], leans: Record<string, string[]> = LEANS): Replay {
  return new Replay(START, to, state(leans), items);
}

function seen(of: Replay, after: number) {
  const at = START + after * MINUTE;
  const { nodes, edges, root_causes, cycles } = viewOf(of.at(at), at, () => undefined);
  return {
    nodes: Object.fromEntries(nodes.map(({ name, status }) => [name, status])),
    edges: edges.map(({ from, to: end, status, ...marks }) => [nodes[from]?.name, nodes[end]?.name, status, marks]),
    causes: root_causes.map(({ nodes: [first], ...cause }) => ({ first: first?.name, ...cause })),
    blame: Object.fromEntries(nodes.map(({ name, root_causes: why }) => [name, why])),
    cycles: cycles.map(({ node_count }) => node_count),
  };
}

/** The incident that the guide tells. */
const INCIDENT = [
  item(4, 'dependency', 'Orders', 'Orders database', 'down'),
  item(4, 'service', 'Orders', null, 'degraded'),
  item(5, 'dependency', 'Checkout', 'Orders', 'degraded'),
  item(5, 'service', 'Checkout', null, 'degraded'),
  item(31, 'dependency', 'Orders', 'Orders database', 'healthy'),
  item(31, 'service', 'Orders', null, 'healthy'),
  item(32, 'dependency', 'Checkout', 'Orders', 'healthy'),
  item(32, 'service', 'Checkout', null, 'healthy'),
];

describe('the incident of the guide', () => {
  const span = replay(INCIDENT);

  it('is not there before, and gone after', () => {
    for (const after of [0, 3, 40]) {
      expect(seen(span, after).causes).toEqual([]);
      expect(Object.values(seen(span, after).nodes)).toEqual(['healthy', 'healthy', 'healthy', 'healthy']);
    }
  });

  it('has one cause while it lasts, that one service does not see', () => {
    const during = seen(span, 20);
    expect(during.nodes).toEqual({ Checkout: 'degraded', Orders: 'degraded', Search: 'healthy', 'Orders database': 'down' });
    expect(during.causes).toEqual([
      { first: 'Orders database', node_count: 1, since: minute(4), hurts: 3, affected: 2, contradicted: true },
    ]);
    expect(during.blame).toEqual({ Checkout: [0], Orders: [0], Search: [], 'Orders database': [0] });
    expect(during.edges).toContainEqual(['Search', 'Orders database', 'healthy', { contradicts: true }]);
  });

  it('tells between which changes a moment lies', () => {
    const still = (after: number) => {
      const { from, to: end } = span.stillAt(START + after * MINUTE);
      return [(from - START) / MINUTE, (end - START) / MINUTE];
    };
    expect([still(1), still(4), still(20), still(50)]).toEqual([[0, 4], [4, 5], [5, 31], [32, Infinity]]);
  });

  it('is the same to and fro, and one object between two changes', () => {
    const at = (after: number) => span.at(START + after * MINUTE);
    const [before, during] = [at(3), at(20)];
    expect(at(21)).toBe(at(22));
    expect(at(3)).toEqual(before);
    expect(at(20)).toEqual(during);
    expect(span.countAt(START + 4 * MINUTE)).toBe(2);
  });
});

describe('what a change does', () => {
  it.each<[string, HistoryItem[], (now: ReturnType<typeof seen>) => unknown, unknown]>([
    ['a service comes, and takes over its name', [item(1, 'added', 'new', null, ' orders DATABASE ')],
      ({ nodes }) => nodes, { Checkout: 'healthy', Orders: 'healthy', Search: 'healthy', ' orders DATABASE ': 'unknown' }],
    ['a service goes with all it leans on', [item(1, 'removed', 'Orders', null, null)],
      ({ nodes, edges }) => [Object.keys(nodes), edges.length], [['Checkout', 'Search', 'orders', 'Orders database'].map((name) => name === 'orders' ? 'Orders' : name), 2]],
    ['a service is renamed', [item(1, 'renamed', 'Orders', null, 'Basket')],
      ({ nodes }) => Object.keys(nodes), ['Checkout', 'Basket', 'Search', 'Orders', 'Orders database']],
    ['what a silent service says is not believed', [item(1, 'stale', 'Orders', null, 'stale'), item(1, 'stale', 'Search', null, 'stale')],
      ({ nodes }) => nodes['Orders database'], 'unknown'],
    ['one that knows counts more than one that does not', [item(1, 'stale', 'Orders', null, 'stale')],
      ({ nodes }) => nodes['Orders database'], 'healthy'],
    ['it is fresh again', [item(1, 'stale', 'Orders', null, 'stale'), item(2, 'stale', 'Orders', null, 'fresh')],
      ({ edges }) => edges[1], ['Orders', 'Orders database', 'healthy', {}]],
    ['something is missing', [item(1, 'missing', 'Orders', 'Orders database', 'missing')],
      ({ edges }) => edges[1], ['Orders', 'Orders database', 'unknown', { missing: true }]],
    ['what was missing for long is closed', [item(1, 'missing', 'Orders', 'Orders database', 'missing'), item(2, 'removed', 'Orders', 'Orders database', null)],
      ({ edges }) => edges.length, 2],
    ['and comes back with what it had', [
      item(1, 'alias', 'Orders', 'Orders database', 'pg'),
      item(2, 'missing', 'Orders', 'Orders database', 'missing'),
      item(3, 'removed', 'Orders', 'Orders database', null),
      item(4, 'missing', 'Orders', 'Orders database', 'present'),
    ], ({ edges }) => edges[1], ['Orders', 'pg', 'healthy', {}]],
    ['a link says what it is', [item(1, 'link', 'Search', 'Orders database', 'Checkout')],
      ({ edges }) => edges[2], ['Search', 'Checkout', 'healthy', {}]],
    ['a link to one that is gone means nothing', [item(1, 'link', 'Search', 'Orders database', 'nobody')],
      ({ edges }) => edges[2], ['Search', 'Orders database', 'healthy', {}]],
    ['who reports itself leans on nothing by that', [item(1, 'added', 'Search', 'search', 'down')],
      ({ edges }) => edges.length, 3],
    ['two reports of one thing are one edge with the worst', [item(1, 'added', 'Search', 'ORDERS database', 'degraded')],
      ({ edges }) => edges[2], ['Search', 'Orders database', 'degraded', { count: 2 }]],
    ['what is not known changes nothing', [item(1, 'service', 'nobody', null, 'down'), item(1, 'dependency', 'Orders', 'nothing', 'down')],
      ({ causes }) => causes, []],
    ['a circle that fails together is one cause', [
      item(1, 'added', 'Orders', 'Checkout', 'down'),
      item(1, 'service', 'Orders', null, 'down'),
      item(1, 'service', 'Checkout', null, 'down'),
    ], ({ causes, cycles }) => [causes.map(({ node_count, hurts }) => [node_count, hurts]), cycles], [[[2, 0]], [2]]],
  ])('%s', (_, items, look, expected) => {
    expect(look(seen(replay(items), 10))).toEqual(expected);
  });
});

it('lets numbers decide, not times: what came late is set where it belongs', () => {
  const late = replay([
    item(10, 'service', 'Orders', null, 'down'),
    item(5, 'service', 'Orders', null, 'degraded'),
  ]);
  expect(seen(late, 7).nodes['Orders']).toBe('degraded');
  expect(seen(late, 12).nodes['Orders']).toBe('degraded');
});

it('is the same from any stop on the way', () => {
  const items = Array.from({ length: 3_000 }, (_, at) =>
    item(at / 60 - (at % 7 === 0 ? 0.5 : 0), 'service', ['Orders', 'Search'][at % 2] ?? '', null, ['down', 'healthy', 'degraded'][at % 3] ?? ''),
  );
  const [long, short] = [replay(items), (after: number) => replay(items.filter(({ at }) => Date.parse(at) <= START + after * MINUTE))];
  for (const after of [0, 7.3, 13, 26.01, 41.7, 49, 3]) {
    expect(seen(long, after).nodes).toEqual(seen(short(after), after).nodes);
  }
});

describe('a span that goes on', () => {
  const items = Array.from({ length: 3_000 }, (_, at) =>
    item(at / 60 - (at % 7 === 0 ? 0.5 : 0), 'service', ['Orders', 'Search'][at % 2] ?? '', null, ['down', 'healthy', 'degraded'][at % 3] ?? ''),
  );
  const moments = [0, 7.3, 13, 26.01, 41.7, 49, 3, 50.2];

  it('is the same as one that was read at once, and takes nothing twice', () => {
    const [whole, grown] = [replay(items), replay(items.slice(0, 1_000))];
    for (let at = 1_000; at < 3_000; at += 70) grown.extend(to, items.slice(at - 20, at + 70));
    expect(grown.changes).toHaveLength(items.length);
    for (const after of moments) expect(seen(grown, after).nodes).toEqual(seen(whole, after).nodes);
  });

  it('ends where it was last read, and not before', () => {
    const grown = new Replay(START, START + MINUTE, state(LEANS), []);
    grown.extend(START + 3 * MINUTE, []);
    grown.extend(START + 2 * MINUTE, []);
    expect(grown.to).toBe(START + 3 * MINUTE);
  });

  it('forgets what is too old, and tells the rest as before', () => {
    const [whole, cut] = [replay(items), replay(items)];
    cut.trim(START + 30 * MINUTE, Infinity);
    expect(cut.changes.length).toBeLessThan(1_500);
    expect(cut.from).toBeGreaterThan(START);
    expect(cut.from).toBeLessThanOrEqual(START + 30 * MINUTE);
    for (const after of [30, 31.5, 41.7, 49]) expect(seen(cut, after).nodes).toEqual(seen(whole, after).nodes);
  });

  it('holds no more changes than it has room for, however long it goes on', () => {
    const long = replay([]);
    for (let at = 0; at < 20_000; at += 1) {
      long.extend(to, [item(at / 600, 'service', 'Orders', null, at % 2 === 0 ? 'down' : 'healthy')]);
      long.trim(-Infinity, 1_000);
    }
    // A stop at a time is dropped, so some more may be there.
    expect(long.changes.length).toBeLessThan(3_000);
    expect(seen(long, 20_000 / 600).nodes['Orders']).toBe('healthy');
  });
});

it('finds a place for what is not drawn today', () => {
  const { nodes } = viewOf(replay([]).at(START), START, (id) => (id === 'Checkout' ? { x: 4, y: 0 } : undefined));
  const places = Object.fromEntries(nodes.map(({ name, x, y }) => [name, [x, y]]));
  expect(places['Checkout']).toEqual([4, 0]);
  expect(places['Orders']).toEqual([0, 1]);
  expect(new Set(Object.values(places).map(String)).size).toBe(4);
});

it('leaves what stands above the first layer where it is', () => {
  const span = new Replay(START, START + 60 * MINUTE, state({ Door: ['Shop'], Shop: [] }), []);
  const shown = viewOf(span.at(START), START, (id) => ({ x: 4, y: id === 'Door' ? -1 : 0 }));
  expect(shown.nodes.map(({ name, x, y }) => [name, x, y])).toEqual([['Door', 4, -1], ['Shop', 4, 0]]);
});
