import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { item } from '../lib/board-sample';
import { GRAPH_EVENTS } from '../lib/services';
import { BRISK_PAUSE_MS, GATHER_MS, RETRY_MS } from './calmly';
import { happen, openPage, openServer } from './fakes';

vi.mock('./stream.svelte', () => import('./fakes'));
const { board } = await import('./board.svelte');
const { Graph } = await import('./graph.svelte');
const { leanings, things } = await import('./leaning.svelte');
const { Names } = await import('./aliases.svelte');
const { overview } = await import('./overview.svelte');
const { voice } = await import('./voice.svelte');

let asked: ReturnType<typeof openServer>;
let stop: () => void = () => undefined;
beforeEach(() => {
  openPage();
  asked = openServer();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const questions = (path: string) => asked.filter((one) => one.path === path).length;
const graph = { nodes: [], edges: [], root_causes: [], cycles: [], truncated: false };

describe('for one event', () => {
  it.each([
    ['Now', '/api/now', () => overview.run(), { items: [], counts: {} }],
    ['the board', '/api/board', () => board.use(), { items: [], is_cut: false }],
    ['the graph', '/api/graph', () => new Graph(() => ({})).run(), graph],
  ])('%s is read once', async (_, path, follow, body) => {
    stop = follow();
    await asked.find((one) => one.path === path)?.answer(body);
    await wait(10_000);
    const before = questions(path);
    happen('service:status', { service_id: 'a' });
    await wait(GATHER_MS);
    expect(questions(path) - before).toBe(1);
    await asked.filter((one) => one.path === path).at(-1)?.answer(body);
    await wait(30_000);
    expect(questions(path) - before).toBe(1);
  });
});

describe('Now', () => {
  const cause = (affected: number) => ({
    nodes: [{ id: 'db', kind: 'external', name: 'PostgreSQL main', status: 'down' }],
    node_count: 1,
    status: 'down',
    hurts: 14,
    affected,
  });
  const answer = (items: object[]) => asked.at(-1)?.answer({ items, counts: {} });

  it('is read again without a long pause for an event that came while it was read', async () => {
    stop = overview.run();
    await answer([]);
    happen('dependency:status');
    await wait(GATHER_MS);
    happen('dependency:status');
    await wait(800);
    const before = questions('/api/now');
    await answer([]);
    await wait(BRISK_PAUSE_MS);
    expect(questions('/api/now') - before).toBe(1);
  });

  it('tells aloud of the cause, and not of those that it takes down', async () => {
    stop = overview.run();
    await answer([]);
    // Whatever was said before is long over.
    await wait(60_000);
    happen('service:status', { service_name: 'Orders', current: 'down' });
    expect(voice.text).toBe('Orders is down');
    await wait(GATHER_MS);
    await answer([cause(11)]);
    happen('service:status', { service_name: 'Catalog', current: 'down' });
    await wait(5_000);
    voice.tick(Date.now());
    expect(voice.text).toBe('PostgreSQL main is down, 11 services hurt');
  });

  it('says since when it is asked for in vain, and only while it is', async () => {
    stop = overview.run();
    await answer([]);
    happen('dependency:status');
    await wait(GATHER_MS);
    const since = Date.now();
    await wait(1_000);
    await asked.at(-1)?.refuse();
    await wait(RETRY_MS);
    await asked.at(-1)?.refuse();
    expect(overview.failingSince).toBe(since);
    await wait(RETRY_MS);
    await answer([]);
    expect(overview.failingSince).toBeNull();
  });
});

describe('the board', () => {
  it('is read again for an event that came while a person had it read', async () => {
    stop = board.use();
    await asked[0]?.answer({ items: [item('Orders')], is_cut: false });
    void board.read();
    happen('service:updated', { service_id: 'orders' });
    await wait(GATHER_MS);
    expect(questions('/api/board')).toBe(3);
    // The later one counts, whichever comes first.
    await asked[2]?.answer({ items: [item('Orders', { team: 'new' })], is_cut: false });
    await asked[1]?.answer({ items: [item('Orders', { team: 'old' })], is_cut: false });
    expect(board.lines?.map(({ team }) => team)).toEqual(['new']);
    expect(board.reading).toBe(false);
  });

  it('is asked for again when the first answer failed', async () => {
    stop = board.use();
    await asked[0]?.refuse();
    expect(board.failure?.title).toBe('not now');
    await wait(RETRY_MS);
    expect(questions('/api/board')).toBe(2);
  });

  it('hears of what changes because of what it fails', async () => {
    stop = board.use();
    await asked[0]?.answer({ items: [], is_cut: false });
    for (const type of GRAPH_EVENTS) {
      const before = asked.length;
      happen(type, { service_id: 'orders' });
      await wait(5_000);
      expect(asked.length - before, type).toBe(1);
      await asked.at(-1)?.answer({ items: [], is_cut: false });
    }
  });
});

describe('what leans on what', () => {
  const bodies: Record<string, object> = {
    '/api/graph': graph,
    '/api/wallboard': { items: [], failing: [] },
    '/api/aliases?limit=200': { items: [], next_cursor: null },
    '/api/graph/suggestions': { items: [], next_cursor: null },
  };
  const answerAll = async () => {
    for (const one of asked) await one.answer(bodies[one.path] ?? {});
  };

  it.each([
    ['service:updated', 1],
    ['service:started', 1],
    ['service:stopped', 1],
    ['alias:updated', 1],
    ['link:updated', 1],
    ['service:status', 0],
  ])('is read again after %s: %i', async (type, times) => {
    const stops = [leanings.run(), things.use(), new Names().run()];
    stop = () => { for (const one of stops) one(); };
    await answerAll();
    await wait(10_000);
    const before = Object.keys(bodies).map(questions);
    happen(type, { service_id: 'a' });
    await wait(10_000);
    await answerAll();
    const more = Object.keys(bodies).map((path, at) => questions(path) - (before[at] ?? 0));
    // The names and the palette read the wall each for themselves.
    expect(more).toEqual([times, 2 * times, times, times]);
  });

  it('says that it could not be read', async () => {
    leanings.value = null;
    stop = leanings.run();
    await asked[0]?.refuse();
    expect([leanings.names, leanings.failure?.title]).toEqual([null, 'not now']);
    await wait(RETRY_MS + GATHER_MS);
    await asked[1]?.answer({ ...graph, nodes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'Kafka' }], edges: [{ from: 0, to: 1 }] });
    expect([leanings.names?.get('a'), leanings.failure]).toEqual(['kafka', null]);
  });
});
