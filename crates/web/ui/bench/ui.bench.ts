import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { go, type Visit } from '../browser/harness';
import { openOwnStage } from '../browser/stage';
import { Crowd, nameOf } from './crowd';
import { figure, median } from './figures';
import { drawnAfter, heapOf, keyToPaint, longTasks, watchPaint } from './measure';
import { lazyParts, readManifest, weigh } from './parts';

const SERVICES = 5_000;
const GRAPH_NODES = 2_000;
const TRIES = 5;
const BATCH = 500;
const MINUTES = Number(process.env['MAINSTAY_BENCH_MINUTES'] ?? '10');
/** Each service is asked once in this time, so this many answers come in a second: 50. */
const POLL_INTERVAL_MS = 100_000;
/** A turn of a service tells two things: of it, and of what it leans on. */
const TURNING = 50;
/** With what they lean on besides, at least as many nodes and edges as the goal names. */
const GRAPH_SERVICES = 2_000;
/** What the address says when no team is folded, as many nodes would make it. */
const UNFOLDED = encodeURIComponent(',');
const START_LIMIT_MS = 180_000;
/** Those that lean on a service of their own, so that each change has another name. */
const CHANGED = 4_998;
const CHANGED_STEP = 3;
/** Longer than what comes at once is held back. */
const BETWEEN_CHANGES_MS = 6_000;
const TOLD_LIMIT_MS = 60_000;

const wide = { viewport: { width: 1440, height: 900 } };

const large = openOwnStage();
const drawn = openOwnStage();
const crowd = new Crowd({ services: SERVICES, turning: TURNING });
const graphCrowd = new Crowd({ services: GRAPH_SERVICES, turning: 0 });

beforeAll(async () => {
  await crowd.start();
  await graphCrowd.start();
  await settle(large, crowd);
  await settle(drawn, graphCrowd);
}, START_LIMIT_MS * 2);

afterAll(async () => {
  await crowd.stop();
  await graphCrowd.stop();
});

it('weighs the first load and each part that comes later', async () => {
  figure('ui.first_load_kib', (await firstLoad(large)) / 1024, 'KiB');
  for (const { name, files } of lazyParts(await readManifest())) {
    figure(`ui.part_${name}_kib`, (await weigh(large.origin, files)) / 1024, 'KiB');
  }
});

it('shows 5 000 services', async () => {
  const paints: number[] = [];
  for (let run = 0; run < TRIES; run += 1) {
    const visit = await large.visit(wide);
    await watchPaint(visit.page, '[data-row]', 20);
    await visit.page.goto('/services');
    paints.push(await drawnAfter(visit.page));
    await close(visit);
  }
  figure('ui.services_5000_paint_ms', median(paints), 'ms');
});

it('filters and scrolls 5 000 services', async () => {
  const visit = await large.visit(wide);
  await go(visit.page, '/services');
  await visit.page.locator('[data-row]').first().waitFor();
  const strokes = await keyToPaint(visit.page, '[data-filter]', ['status:healthy 12', 'team:pay 4', 'service-3']);
  figure('ui.filter_ms', median(strokes), 'ms');
  figure('ui.filter_worst_ms', Math.max(...strokes), 'ms');
  await visit.page.locator('[data-filter]').fill('');
  const tasks = await longTasks(visit.page, () => scroll(visit.page));
  figure('ui.scroll_long_tasks', tasks.length, 'tasks');
  figure('ui.scroll_longest_ms', Math.max(0, ...tasks), 'ms');
  await close(visit);
});

it('draws a graph of 2 000 nodes', async () => {
  const times: number[] = [];
  let nodes = 0;
  for (let run = 0; run < TRIES; run += 1) {
    const visit = await drawn.visit(wide);
    await watchPaint(visit.page, '[data-drawn]', 1);
    await visit.page.goto(`/graph?teams=${UNFOLDED}`);
    times.push(await drawnAfter(visit.page));
    nodes = await nodesOf(visit.page);
    if (nodes < GRAPH_NODES) throw new Error(`${String(nodes)} nodes were drawn, ${String(GRAPH_NODES)} are measured`);
    await close(visit);
  }
  figure('ui.graph_nodes', nodes, 'nodes');
  figure(`ui.graph_${String(GRAPH_NODES)}_ms`, median(times), 'ms');
});

it('tells on Now what changed of one of 5 000 services', async () => {
  const visit = await large.visit(wide);
  await go(visit.page, '/');
  const times: number[] = [];
  for (let run = 0; run < TRIES; run += 1) {
    times.push(await toldAfter(visit.page, CHANGED - run * CHANGED_STEP));
    await pause(BETWEEN_CHANGES_MS);
  }
  figure(`ui.now_${String(SERVICES)}_ms`, median(times), 'ms');
  await close(visit);
});

it.each([
  ['heap', '/services'],
  ['heap_activity', '/activity'],
])('holds its memory while 50 events come in a second: %s', async (name, path) => {
  const visit = await large.visit(wide);
  await go(visit.page, path);
  crowd.turns = true;
  await pause(60_000);
  const before = await heapOf(visit.page);
  await pause(MINUTES * 60_000);
  const after = await heapOf(visit.page);
  crowd.turns = false;
  figure(`ui.${name}_mb`, after / 1e6, 'MB');
  figure(`ui.${name}_growth_mb`, (after - before) / 1e6, 'MB');
  await close(visit);
});

/** Registers the crowd and waits until each was asked once. */
async function settle(stage: typeof large, services: Crowd): Promise<void> {
  await stage.asAdmin(async (api) => {
    for (const document of services.documents(POLL_INTERVAL_MS, BATCH)) {
      const answer = await api.post('/api/services/apply', { document });
      if (!answer.ok()) throw new Error(await answer.text());
    }
    const deadline = Date.now() + START_LIMIT_MS;
    while (Date.now() < deadline) {
      const board = await api.list<{ status: string }>('/api/board');
      if (board.every(({ status }) => status !== 'unknown')) return;
      await pause(1_000);
    }
    throw new Error('not every service was polled in time');
  });
}

/** What the first page loads besides its data, as it came over the wire. */
async function firstLoad(stage: typeof large): Promise<number> {
  const visit = await stage.visit(wide);
  const finished: Request[] = [];
  visit.page.on('requestfinished', (request) => finished.push(request));
  await go(visit.page, '/');
  await visit.page.waitForLoadState('networkidle').catch(() => undefined);
  const parts = finished.filter((request) => !new URL(request.url()).pathname.startsWith('/api/'));
  const sizes = await Promise.all(parts.map((request) => request.sizes()));
  await close(visit);
  return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
}

/** The milliseconds from the moment at which a service answers otherwise, and is polled, to the page that tells it. */
async function toldAfter(page: Page, number: number): Promise<number> {
  const name = nameOf(number);
  return large.asAdmin(async (api) => {
    const service = (await api.list<{ id: string; name: string }>('/api/board')).find((one) => one.name === name);
    if (service === undefined) throw new Error(`${name} is not on the board`);
    const changes = await page.getByRole('region', { name: 'Last changes' }).elementHandle();
    const before = await changes?.$eval('li b', (first) => first.textContent);
    crowd.turn(number);
    const began = performance.now();
    const told = page.waitForFunction(
      ([all, was]) => all?.querySelector('li b')?.textContent !== was,
      [changes, before] as const,
      { timeout: TOLD_LIMIT_MS },
    );
    const [answer] = await Promise.all([api.post(`/api/services/${service.id}/poll`, {}), told]);
    if (answer.status() !== 200) throw new Error(await answer.text());
    return performance.now() - began;
  });
}

async function scroll(page: Page): Promise<void> {
  await page.mouse.move(720, 500);
  for (let step = 0; step < 150; step += 1) {
    await page.mouse.wheel(0, 600);
    await pause(16);
  }
}

async function nodesOf(page: Page): Promise<number> {
  return Number(await page.locator('[data-drawn]').first().getAttribute('data-drawn'));
}

function close(visit: Visit): Promise<void> {
  return visit.page.context().close();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
