import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { killAgent } from './agents';
import { BACK_MS, go, markLoad, visit } from './harness';
import { Relay } from './relay';
import { openOwnStage } from './stage';

/** A lost agent is found within a moment. */
const stage = openOwnStage({ env: { MAINSTAY_FLEET_SWEEP_MS: '500' } });

const READY_MS = 30_000;
/** More than one of these is waited for in a test. */
const LONG_MS = 120_000;

let worker: string;
beforeAll(async () => {
  worker = await stage.asAdmin(async (api) => {
    const made = await api.post('/api/workers', { name: 'office', provider: 'process', category: 'persistent' });
    const { id } = (await made.json()) as { id: string };
    expect((await api.post(`/api/workers/${id}/provision`, {})).ok()).toBe(true);
    return id;
  });
}, 60_000);

const state = (page: Page, word: string) =>
  page.getByRole('row').filter({ hasText: 'office' }).getByText(word, { exact: true });
const becomes = (page: Page, light: string, timeout?: number) =>
  page.waitForSelector(`[data-light="${light}"]`, timeout === undefined ? {} : { timeout });

it('shows what a worker became while the stream was cut', { timeout: LONG_MS }, async () => {
  const relay = new Relay();
  await relay.start(stage.origin);
  // Not `leave`d: a browser notes each refused connection on its console.
  const { page } = await visit(stage.browser, relay.origin(), { storageState: stage.admin });
  await go(page, '/fleet');
  await state(page, 'ready').waitFor({ timeout: READY_MS });
  const stayed = await markLoad(page);

  relay.missing = (path) => path.startsWith('/api/events');
  relay.cut();
  await becomes(page, 'reconnecting');
  const stopped = await stage.asAdmin((api) => api.post(`/api/workers/${worker}/stop`, {}));
  expect(stopped.ok()).toBe(true);
  // What was missed tells it, not a list that happens to be read.
  relay.missing = (path) => path.startsWith('/api/workers?');
  await becomes(page, 'live', BACK_MS);
  await state(page, 'stopped').waitFor({ timeout: READY_MS });
  expect(await stayed()).toBe(true);
  relay.missing = () => false;

  await page.getByRole('button', { name: 'Start office' }).click();
  await state(page, 'ready').waitFor({ timeout: READY_MS });
  await page.context().close();
  await relay.stop();
});

it('shows that a worker was lost while the server was away', { timeout: LONG_MS }, async () => {
  const { page } = await stage.visit();
  await go(page, '/fleet');
  await state(page, 'ready').waitFor({ timeout: READY_MS });
  const stayed = await markLoad(page);

  await stage.own.stop();
  await page.waitForSelector('[data-light]:not([data-light="live"])');
  killAgent(worker);
  await stage.own.start();
  await becomes(page, 'live', BACK_MS);
  await state(page, 'error').waitFor({ timeout: READY_MS });
  await page.getByText('1 worker, 1 in error').first().waitFor();
  expect(await stayed()).toBe(true);

  await page.getByRole('button', { name: 'Retry office' }).click();
  await page.getByRole('button', { name: 'Make another machine' }).click();
  await state(page, 'ready').waitFor({ timeout: READY_MS });
  await stage.asAdmin((api) => api.delete(`/api/workers/${worker}`));
  await page.context().close();
});
