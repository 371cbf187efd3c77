import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACK_MS, go, look, visit } from './harness';
import { Relay } from './relay';
import { openOwnStage } from './stage';

const stage = openOwnStage();
/** The code of a page that is loaded only when it is wanted, or its style. */
const CODE = /^\/assets\/Activity-[\w-]+\.js/;
const STYLE = /^\/assets\/Activity-[\w-]+\.css/;

let relay: Relay;
let page: Page;
beforeEach(async () => {
  relay = new Relay();
  await relay.start(stage.origin);
  // Not `leave`d: a browser notes each file that does not come on its console.
  ({ page } = await visit(stage.browser, relay.origin(), { storageState: stage.admin }));
  await go(page, '/');
});
afterEach(async () => {
  await page.context().close();
  await relay.stop();
});

const failed = () => page.getByRole('heading', { name: 'This page could not be loaded.' });
const there = (timeout?: number) =>
  page.getByRole('heading', { name: 'Unstable' }).waitFor(timeout === undefined ? {} : { timeout });
const openActivity = () => page.getByRole('link', { name: 'Activity' }).click();

describe('a page whose code does not come', () => {
  it.each([['code', CODE], ['style', STYLE]])('is loaded anew by itself when its %s was missing', async (_name, file) => {
    relay.missing = (path) => relay.loads === 1 && file.test(path);
    await openActivity();
    await there();
    expect([new URL(page.url()).pathname, relay.loads]).toEqual(['/activity', 2]);
    const bare = await page.evaluate(() => [...document.styleSheets].some(({ cssRules }) => cssRules.length === 0));
    expect(bare).toBe(false);
  });

  it('says so instead of loading itself for ever, and comes by a click', async () => {
    const missed = new Set<number>();
    relay.missing = (path) => CODE.test(path) && missed.add(relay.loads).size > 0;
    await openActivity();
    await expect.poll(() => [...missed]).toEqual([1, 2]);
    await failed().waitFor();
    await look(page, 'lazy-failed');
    await page.getByRole('button', { name: 'Load again' }).click();
    await expect.poll(() => [...missed]).toEqual([1, 2, 3]);
    await failed().waitFor();
    // Still missing to this load, whose own second try may be under way: only the click brings it.
    relay.missing = (path) => CODE.test(path) && relay.loads === 3;
    await page.getByRole('button', { name: 'Load again' }).click();
    await there();
    expect(relay.loads).toBe(4);
  });

  it('waits for a server that is gone, and comes once it is back', async () => {
    await stage.own.stop();
    await openActivity();
    await page.getByText('It is loaded again as soon as the server answers.').waitFor();
    await page.getByRole('button', { name: 'Load again' }).click();
    await failed().waitFor();
    expect(relay.loads).toBe(1);
    await stage.own.start();
    await there(BACK_MS);
  });
});

it('has the light of the wall before its tiles', async () => {
  // It never comes, as from a server that hangs.
  await page.route(/\/assets\/Wallboard-[\w-]+\.js/, () => undefined);
  await page.goto('/?board');
  await page.locator('[data-light]').waitFor();
  expect(await page.locator('.tile').count()).toBe(0);
});
