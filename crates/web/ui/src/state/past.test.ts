import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Places } from '../lib/graph/keep';
import { item, minute, node, START, state, view } from '../lib/graph/sample';
import { happen, openPage, openServer } from './fakes';

vi.mock('./stream.svelte', () => import('./fakes'));
const { Past, SETTLE_MS } = await import('./past.svelte');

const MINUTE = 60_000;
const NOW = START + 60 * MINUTE;
const HOUR = { from: START, to: NOW };
const whole = {};

let asked: ReturnType<typeof openServer>;
let past: InstanceType<typeof Past>;
let stop: () => void;
beforeEach(() => {
  openPage();
  vi.setSystemTime(NOW);
  asked = openServer();
  past = new Past(new Places());
  stop = past.run(() => Date.now());
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const page = (items: ReturnType<typeof item>[], more: object = {}) => ({
  from: minute(0), to: minute(60), records_since: minute(-600), next_cursor: null, state: state({ Orders: [] }), items, ...more,
});
const graphOf = (name: string) => view([node(name)]);
const drawn = (moment: number, part = whole) => past.at(moment, part).view?.nodes.map(({ name, status }) => `${name} ${status}`);

describe('a moment that the server is asked for', () => {
  const [first, second] = [START - 100 * MINUTE, START - 90 * MINUTE];

  it('is drawn for itself alone, and not while it is read', async () => {
    past.ask(first, whole);
    await wait(SETTLE_MS);
    expect(past.at(first, whole)).toMatchObject({ view: null, failed: false });
    await asked[0]?.answer(graphOf('first'));
    expect(drawn(first)).toEqual(['first healthy']);
    expect(drawn(second)).toBeUndefined();
    expect(drawn(first, { service: 'a', depth: '2' })).toBeUndefined();
  });

  it.each([[[0, 1]], [[1, 0]]])('is the newest that was wanted, in whatever order answers come: %j', async (order) => {
    past.ask(first, whole);
    await wait(SETTLE_MS);
    past.ask(second, whole);
    await wait(SETTLE_MS);
    for (const at of order) await asked[at]?.answer(graphOf(at === 0 ? 'first' : 'second'));
    expect([drawn(first), drawn(second)]).toEqual([undefined, ['second healthy']]);
  });

  it('is another for another part of the graph', async () => {
    const near = { service: 'a', depth: '2' };
    past.ask(first, whole);
    await wait(SETTLE_MS);
    past.ask(first, near);
    await wait(SETTLE_MS);
    expect(asked.map(({ path }) => path.includes('service=a'))).toEqual([false, true]);
    await asked[1]?.answer(graphOf('near'));
    await asked[0]?.answer(graphOf('whole'));
    expect([drawn(first, near), drawn(first)]).toEqual([['near healthy'], undefined]);
  });

  it('says so when it can not be read', async () => {
    past.ask(first, whole);
    await wait(SETTLE_MS);
    await asked[0]?.refuse();
    expect(past.at(first, whole)).toMatchObject({ view: null, failed: true });
    expect(past.at(second, whole)).toMatchObject({ view: null, failed: false });
  });

  it('is not asked for while a hand drags past it', async () => {
    for (let at = 0; at < 20; at += 1) {
      past.ask(first + at, whole);
      await wait(SETTLE_MS / 2);
    }
    await wait(SETTLE_MS);
    expect(asked).toHaveLength(1);
  });
});

describe('moments that are played and the server is asked for', () => {
  const [first, second] = [START - 100 * MINUTE, START - 99 * MINUTE];

  it('are asked for now and then, and the last one that came stands until the next', async () => {
    for (let at = 0; at < 30; at += 1) {
      past.ask(first + at, whole, true);
      await wait(SETTLE_MS / 10);
    }
    expect(asked).toHaveLength(1);
    await asked[0]?.answer(graphOf('first'));
    const of = past.at(second, whole, true);
    expect([of.view?.nodes[0]?.name, of.of >= first && of.of < second, drawn(second)]).toEqual(['first', true, undefined]);
    past.ask(second, whole, true);
    await wait(SETTLE_MS);
    expect(asked).toHaveLength(2);
    await asked[1]?.answer(graphOf('second'));
    expect(past.at(second, whole, true)).toMatchObject({ of: second, failed: false });
    expect(past.at(second, { service: 'a', depth: '2' }, true).view).toBeNull();
  });

  it('stand while the server can’t tell of the next one', async () => {
    past.ask(first, whole, true);
    await wait(SETTLE_MS);
    await asked[0]?.answer(graphOf('first'));
    past.ask(second, whole, true);
    await wait(SETTLE_MS);
    await asked[1]?.refuse();
    expect(past.at(second, whole, true)).toMatchObject({ of: first, failed: false, view: { nodes: [{ name: 'first' }] } });
    past.ask(second, whole);
    await wait(SETTLE_MS);
    await asked[2]?.refuse();
    expect(past.at(second, whole)).toMatchObject({ view: null, failed: true });
  });

  it('are read for the moment at which play stops', async () => {
    past.ask(first, whole, true);
    await wait(SETTLE_MS);
    past.ask(second, whole, true);
    past.ask(second, whole);
    await wait(SETTLE_MS);
    await asked[1]?.answer(graphOf('second'));
    await asked[0]?.answer(graphOf('first'));
    expect(drawn(second)).toEqual(['second healthy']);
  });
});

describe('a span that is replayed', () => {
  const down = () => item(30, 'service', 'Orders', null, 'down');

  it('tells each of its moments', async () => {
    void past.open(HOUR, NOW);
    await asked[0]?.answer(page([down()]));
    expect([drawn(START + 29 * MINUTE), drawn(START + 31 * MINUTE)]).toEqual([['Orders healthy'], ['Orders down']]);
    past.ask(START + 31 * MINUTE, whole);
    await wait(10_000);
    expect(asked.filter(({ path }) => path.includes('at='))).toEqual([]);
  });

  it('has what happened just before it was opened, though nobody tells of it', async () => {
    void past.open(HOUR, NOW);
    await asked[0]?.answer(page([]));
    await wait(2_000);
    await asked[1]?.answer(page([item(60 - 500 / MINUTE, 'service', 'Orders', null, 'down')]));
    expect(drawn(NOW)).toEqual(['Orders down']);
  });

  it('does not tell of a moment after something that it has not read', async () => {
    void past.open(HOUR, NOW);
    await asked[0]?.answer(page([]));
    const moment = NOW + 500;
    expect(drawn(moment)).toEqual(['Orders healthy']);
    await wait(1_000);
    happen('service:status', { at: new Date(NOW + 300).toISOString() });
    expect(drawn(moment)).toBeUndefined();
    expect(drawn(START)).toEqual(['Orders healthy']);
    await wait(200);
    await asked[1]?.answer(page([]));
    expect(drawn(moment)).toBeUndefined();
    await wait(4_000);
    await asked[2]?.answer(page([item(60 + 300 / MINUTE, 'service', 'Orders', null, 'down')]));
    expect(drawn(moment)).toEqual(['Orders down']);
  });

  it('has an incident from its first event on, by one read that is not too early', async () => {
    void past.open(HOUR, NOW);
    await asked[0]?.answer(page([]));
    await wait(2_000);
    await asked[1]?.answer(page([]));
    expect(past.incidents).toEqual([]);
    await wait(30_000);
    const at = Date.now();
    happen('service:status', { at: new Date(at).toISOString() });
    await wait(1_500);
    expect(asked).toHaveLength(3);
    const to = new URL(`http://x${asked[2]?.path ?? ''}`).searchParams.get('to') ?? '';
    expect(Date.parse(to)).toBeGreaterThanOrEqual(at);
    await asked[2]?.answer(page([item((at - START) / MINUTE, 'service', 'Orders', null, 'degraded')]));
    expect(past.incidents.map(({ names, status, to: end }) => [names, status, end])).toEqual([[['Orders'], 'degraded', null]]);
    await wait(10_000);
    expect(asked).toHaveLength(3);
  });

  it('is known from where the newest changes begin when there are too many, and not read again for that', async () => {
    const week = { from: NOW - 7 * 24 * 60 * MINUTE, to: NOW };
    void past.open(week, NOW);
    expect(asked[0]?.path).toContain('most=40000');
    await asked[0]?.answer(page([down()], { records_since: new Date(week.from - MINUTE).toISOString(), next_cursor: 'more' }));
    await asked[1]?.answer(page([]));
    expect([past.keptFrom, drawn(START + 31 * MINUTE)]).toEqual([START, ['Orders down']]);
    expect(past.incidents.map(({ names, to }) => [names, to])).toEqual([[['Orders'], null]]);
    expect([past.isReplayed(START - 1), drawn(START - 1)]).toEqual([false, undefined]);
    await wait(10_000);
    await asked[2]?.answer(page([]));
    void past.open({ from: week.from + 10_000, to: week.to + 10_000 }, NOW + 10_000);
    void past.open(HOUR, NOW);
    expect(asked).toHaveLength(3);
    // What is newest then is another matter.
    void past.open({ from: week.from - 60 * MINUTE, to: START - 60 * MINUTE }, NOW);
    expect(asked).toHaveLength(4);
  });

  it('is read anew where so much came at once that some of it would be missing', async () => {
    void past.open(HOUR, NOW);
    await asked[0]?.answer(page([]));
    await wait(2_000);
    await asked[1]?.answer(page([]));
    happen('service:status');
    await wait(5_000);
    const late = new Date(NOW + 1_000).toISOString();
    await asked[2]?.answer(page([down()], { from: late }));
    expect(drawn(NOW)).toEqual(['Orders healthy']);
    await asked[3]?.answer(page([down()], { from: minute(20) }));
    expect([past.keptFrom, drawn(START + 31 * MINUTE)]).toEqual([START + 20 * MINUTE, ['Orders down']]);
  });

  it('reads only its end when it goes on, until all that was heard of is in it', async () => {
    void past.open(HOUR, NOW);
    await asked[0]?.answer(page([down()]));
    await wait(2_000);
    await asked[1]?.answer(page([]));
    await wait(MINUTE);
    happen('service:status');
    await wait(1_500);
    await asked[2]?.answer(page([]));
    const from = new URL(`http://x${asked[2]?.path ?? ''}`).searchParams.get('from') ?? '';
    expect(Date.parse(from)).toBeGreaterThan(NOW - 5 * MINUTE);
    await wait(10 * MINUTE);
    expect(asked).toHaveLength(3);
  });
});
