import { describe, expect, it } from 'vitest';
import { between, centre, detailAt, fit, pan, reveal, toScreen, toWorld, zoom } from './camera';
import { components } from './circles';
import { APART, edgeEmphasis, emphasis, PLAIN, SELECTED, USED, USER } from './emphasis';
import { fits, foldsOf, foldsText, isFolded, toggled } from './folds';
import { fold, teamId, teamsOf } from './groups';
import { bounds, CARD, hit, layout, LAYER_WIDTH, SLOT_HEIGHT } from './layout';
import { listsOf, near, reach } from './lists';
import { node, thing, view } from './sample';
import { walk } from './walk';
import { at, format, parse } from '../route';

/** A → B → D, A → C, and E stands alone; B below C. */
const EDGES = [{ from: 0, to: 1 }, { from: 1, to: 3 }, { from: 0, to: 2 }];
const LISTS = listsOf(5, EDGES);
const POINTS = [{ x: 0, y: 0 }, { x: 100, y: 40 }, { x: 100, y: 0 }, { x: 200, y: 0 }, { x: 0, y: 90 }];

describe('what is reached', () => {
  it.each([
    ['uses', 0, Infinity, [1, 2, 3]],
    ['uses', 0, 1, [1, 2]],
    ['users', 3, Infinity, [1, 0]],
    ['users', 4, Infinity, []],
  ] as const)('by %s from %i, %f far', (way, start, far, found) => {
    expect([...reach(LISTS[way], start, far).keys()].sort()).toEqual([...found].sort());
  });

  it('lies near, both ways', () => {
    expect([...near(LISTS, 1, 1)].sort()).toEqual([0, 1, 3]);
    expect([...near(LISTS, 1, 0)]).toEqual([1]);
  });

  it('has components, the ones that are leant on first, however long the chain', () => {
    const circle = components([[1], [2], [0, 3], [4], [3]], (place) => place !== 4);
    expect(circle.members).toEqual([[3], [0, 1, 2]]);
    expect([...circle.of]).toEqual([1, 1, 1, 0, -1]);
    const long = Array.from({ length: 50_000 }, (_, at) => (at < 49_999 ? [at + 1] : [0]));
    expect(components(long, () => true).members).toHaveLength(1);
  });
});

it.each([
  [null, 'ArrowRight', 0],
  [0, 'ArrowRight', 2],
  [0, 'ArrowLeft', 0],
  [1, 'ArrowLeft', 0],
  [1, 'ArrowRight', 3],
  [1, 'ArrowUp', 2],
  [2, 'ArrowDown', 1],
  [0, 'ArrowDown', 4],
  [0, 'ArrowUp', 0],
  [9, 'ArrowUp', 0],
] as const)('walks from %s by %s to %i', (from, arrow, to) => {
  expect(walk(from, arrow, POINTS, LISTS, () => false)).toBe(to);
});

it('walks first to what fails', () => {
  expect(walk(0, 'ArrowRight', POINTS, LISTS, (place) => place === 1)).toBe(1);
  // Whoever has selected nothing begins at a root cause.
  expect(walk(null, 'ArrowLeft', POINTS, LISTS, () => false, 2)).toBe(2);
});

describe('what stands out', () => {
  it.each([
    ['nothing is selected', null, null, [PLAIN, PLAIN, PLAIN, PLAIN, PLAIN]],
    ['one is selected', 1, null, [USER, SELECTED, APART, USED, APART]],
    ['some match', null, [true, false, false, false, true], [PLAIN, APART, APART, APART, PLAIN]],
    ['one of those that match is selected', 1, [true, false, false, false, true], [USER, SELECTED, APART, USED, APART]],
  ])('when %s', (_, selected, matches, expected) => {
    expect([...emphasis(LISTS, selected, matches)]).toEqual(expected);
  });

  it.each([
    [PLAIN, PLAIN, PLAIN],
    [USER, SELECTED, USER],
    [USER, USER, USER],
    [SELECTED, USED, USED],
    [USER, USED, APART],
    [APART, SELECTED, APART],
    [PLAIN, APART, APART],
  ])('an edge from %i to %i is %i', (from, to, expected) => {
    expect(edgeEmphasis(from, to)).toBe(expected);
  });
});

describe('the camera', () => {
  const size = { width: 800, height: 600 };
  const camera = { x: 10, y: 20, scale: 0.5 };

  it('shows all of it, and does not blow up one node', () => {
    const box = { left: 0, top: 0, right: 7_440, bottom: 100 };
    expect(fit(box, size)).toEqual({ x: 3_720, y: 50, scale: 0.1 });
    expect(fit({ left: 0, top: 0, right: 10, bottom: 10 }, size).scale).toBe(1.2);
    expect(fit(null, size).scale).toBe(1);
  });

  it('keeps what is under the pointer', () => {
    const at = { x: 700, y: 100 };
    const under = toWorld(camera, at, size);
    const closer = zoom(camera, 2, at, size);
    expect(closer.scale).toBe(1);
    expect(toScreen(closer, under, size).x).toBeCloseTo(at.x);
    expect(toScreen(closer, under, size).y).toBeCloseTo(at.y);
    expect(zoom(camera, 1e9, at, size).scale).toBe(3);
  });

  it('moves only as far as it must', () => {
    expect(reveal(camera, { x: 10, y: 20 }, size)).toEqual(camera);
    const moved = reveal(camera, { x: 10_000, y: 20 }, size);
    expect(toScreen(moved, { x: 10_000, y: 20 }, size).x).toBeCloseTo(704);
    expect(pan(camera, 10, 0).x).toBe(-10);
    expect(centre(camera, { x: 3, y: 4 })).toEqual({ x: 3, y: 4, scale: 0.7 });
    expect(between(camera, { x: 20, y: 40, scale: 2 }, 0.5)).toEqual({ x: 15, y: 30, scale: 1 });
  });

  it.each([[0.02, 'dot'], [0.49, 'dot'], [0.5, 'name'], [0.94, 'name'], [0.95, 'full'], [3, 'full']])('at %f shows a %s', (scale, detail) => {
    expect(detailAt(scale)).toBe(detail);
  });
});

describe('teams', () => {
  const whole = view(
    [
      node('A', { y: 0 }),
      node('B', { y: 1, status: 'degraded', root_causes: [0], root_cause_count: 1 }),
      node('C', { y: 1, x: 2 }),
      thing('db', { y: 2, status: 'down' }),
      thing('cache', { y: 2, x: 2 }),
    ],
    [
      { from: 0, to: 1, status: 'healthy' },
      { from: 0, to: 2, status: 'healthy' },
      { from: 1, to: 3, status: 'down' },
      { from: 2, to: 4, status: 'healthy', missing: true },
      { from: 1, to: 4, status: 'healthy', contradicts: true },
    ],
    { root_causes: [{ nodes: [{ id: 'external:db', kind: 'external', name: 'db', status: 'down' }], node_count: 1, since: null, hurts: 2, affected: 2, contradicted: false }] },
  );
  const teamOf = (id: string) => (id === 'A' ? 'Shop' : id === 'B' ? 'Pay' : '');

  it('are listed with their worst, those without one last', () => {
    expect(teamsOf(whole, teamOf)).toEqual([
      { name: 'Pay', count: 1, status: 'down' },
      { name: 'Shop', count: 1, status: 'healthy' },
      { name: '', count: 1, status: 'healthy' },
    ]);
  });

  it.each(['Pay', 'Shop', ''])('say the same of themselves in the list and in the drawing: %j', (name) => {
    const listed = teamsOf(whole, teamOf).find((team) => team.name === name);
    const drawn = fold(whole, teamOf, (team) => team === name).nodes.find(({ id }) => id === teamId(name));
    expect([drawn?.status, drawn?.count]).toEqual([listed?.status, listed?.count]);
  });

  it('are drawn as they are when none is folded', () => {
    const drawn = fold(whole, teamOf, () => false);
    expect(drawn.nodes.map(({ id, isRoot }) => [id, isRoot])).toEqual([['A', false], ['B', false], ['C', false], ['external:db', true], ['external:cache', false]]);
    expect(drawn.edges).toHaveLength(5);
  });

  it('take with them what only they lean on', () => {
    const drawn = fold(whole, teamOf, (team) => team === 'Pay');
    expect(drawn.nodes.map(({ id }) => id)).toEqual(['A', 'C', 'external:cache', 'team:Pay']);
    expect(drawn.nodes[3]).toMatchObject({ status: 'down', isRoot: true, count: 1, layer: 1 });
    expect([...drawn.of]).toEqual([0, 3, 1, 3, 2]);
    expect(drawn.edges.map(({ from, to }) => [from, to])).toEqual([[0, 3], [0, 1], [1, 2], [3, 2]]);
  });

  it('are one node each when all are folded', () => {
    const drawn = fold(whole, teamOf, () => true);
    expect(drawn.nodes.map(({ name }) => name)).toEqual(['cache', 'Shop', 'Pay', 'No team']);
  });
});

it('draws what a folded team leans on right of it', () => {
  const nodes = [node('A', { y: 0 }), node('B', { y: 4 }), node('C', { y: 5 }), thing('db', { y: 1 }), node('Other', { y: 0 })];
  const edge = (from: number) => ({ from, to: 3, status: 'healthy' as const });
  const shown = view(nodes, [edge(0), edge(1), edge(4)]);
  const { nodes: drawn } = fold(shown, (id) => (id === 'Other' ? 'Else' : 'Pay'), (team) => team === 'Pay');
  expect(drawn.map(({ name, layer }) => [name, layer])).toEqual([['db', 5], ['Other', 0], ['Pay', 4]]);
});

describe('folded teams in the address', () => {
  it.each([
    [undefined, false, ''],
    [undefined, true, ''],
    ['Shop,Pay%20%26%20go', false, 'Pay & go,Shop'],
    ['50%25,a%2cb', false, '50%25,a%2cb'],
    ['*Shop', true, '*Shop'],
    ['-', false, '-'],
    [',', true, ','],
    ['*', false, '*'],
    ['%E0%A4%A', false, ''],
  ])('%s in a graph of many (%s) is %s again', (text, many, again) => {
    expect(foldsText(foldsOf(text, many), many)).toBe(again);
  });

  it('are folded and unfolded one by one, and a name of a star or a line is a name', () => {
    const all = foldsOf(undefined, true);
    expect([isFolded(all, 'Shop'), isFolded(all, '')]).toEqual([true, true]);
    const open = toggled(all, 'Shop');
    expect([isFolded(open, 'Shop'), isFolded(open, 'Pay')]).toEqual([false, true]);
    expect(toggled(open, 'Shop')).toEqual(all);
    for (const name of ['*', '-', 'a,b', '']) {
      const folds = toggled(foldsOf(undefined, false), name);
      expect(isFolded(foldsOf(foldsText(folds, false), false), name), name).toBe(true);
    }
  });

  it.each([
    ['forty teams', 40, 'Team number', true],
    ['ten of a hundred Arabic letters', 10, 'ف'.repeat(98), true],
    ['more than any address holds', 100, 'ف'.repeat(98), false],
  ])('%s: whether they fit is known', (_, count, name, fit) => {
    let folds = foldsOf(undefined, true);
    for (let at = 0; at < count; at += 1) folds = toggled(folds, `${name}${String(at)}`);
    const text = foldsText(folds, true);
    expect(fits(text)).toBe(fit);
    const { pathname, search } = new URL(format(at('graph', { teams: text })) ?? '', 'http://x');
    const again = foldsOf(parse(pathname, search).where.teams, true);
    expect([...again.except].sort().join() === [...folds.except].sort().join()).toBe(fit);
  });
});

describe('places', () => {
  const drawn = fold(view([node('A', { y: 1, x: 4 }), node('B', { y: 3, x: -2 }), node('C', { y: 3, x: 9 })]), () => '', () => false).nodes;

  it('of the whole are the server’s, layers from left to right', () => {
    expect(layout(drawn, true)[0]).toEqual({ x: LAYER_WIDTH, y: 4 * SLOT_HEIGHT });
  });

  it('of a part move together and keep their order', () => {
    const [a, b, c] = layout(drawn, false);
    expect(a).toEqual({ x: 0, y: 0 });
    expect([b?.x, c?.x]).toEqual([LAYER_WIDTH, LAYER_WIDTH]);
    expect((c?.y ?? 0) - (b?.y ?? 0)).toBe(SLOT_HEIGHT * 2);
  });

  it('of a very tall layer are several columns, in the shape of a window', () => {
    const many = fold(view(Array.from({ length: 2_000 }, (_, at) => node(String(at), { x: at * 2, y: at < 1_990 ? 0 : 1 }))), () => '', () => false).nodes;
    const points = layout(many, true);
    const box = bounds(points);
    const shape = box === null ? 0 : (box.right - box.left) / (box.bottom - box.top);
    expect(shape).toBeGreaterThan(1.2);
    expect(shape).toBeLessThan(2);
    expect(new Set(points.map(({ x, y }) => `${String(x)} ${String(y)}`)).size).toBe(2_000);
    expect(points[1_999]?.x).toBeGreaterThan(points[1_989]?.x ?? 0);
  });

  it('have bounds, and are found under a pointer', () => {
    expect(bounds([])).toBeNull();
    expect(bounds([{ x: 0, y: 0 }])).toEqual({ left: -CARD.width / 2, right: CARD.width / 2, top: -13, bottom: 13 });
    expect(hit(POINTS, { x: 104, y: 38 }, { x: 5, y: 5 })).toBe(1);
    expect(hit(POINTS, { x: 150, y: 38 }, { x: 5, y: 5 })).toBe(-1);
  });
});
