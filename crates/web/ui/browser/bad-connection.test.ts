import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { go, pauseClock, untilText } from './harness';
import { openOwnStage } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const watched = watch(stage);

const WELL = [{ name: 'vault', healthy: true }];
const ILL = [{ name: 'vault', healthy: false, errorMessage: 'refused' }];
const MINUTE_MS = 60_000;
/** A test waits several times for as long as a whole one may usually take. */
const LONG_MS = 120_000;
const CALM = 'The one service is healthy.';

let id = '';
beforeAll(async () => {
  id = await watched.add('Ledger', watched.upstream.at('/ledger', WELL));
});
beforeEach(async () => {
  watched.upstream.at('/ledger', WELL);
  await watched.poll(id);
});

const card = (page: Page) => page.getByRole('article', { name: 'vault' });
const light = (page: Page) => page.locator('[data-light]').getAttribute('data-light');
const at = (page: Page) => page.evaluate(() => Date.now());

/** Now in the browser of somebody who never loads it again; time passes as the test says. */
async function watchNow(): Promise<Page> {
  // Not `leave`d: a browser notes each refused connection on its console.
  const { page } = await stage.visit();
  await page.clock.install();
  await go(page, '/');
  await page.getByText(CALM).waitFor();
  await page.evaluate(() => (document.documentElement.dataset['same'] = 'yes'));
  return page;
}

async function expectOld(page: Page): Promise<void> {
  await untilText(page, '[data-light]', /stale \d+ s/);
  await untilText(page, '[data-summary]', /Old data since/);
  await page.getByText('Nothing was broken when this was last read.').waitFor();
}

/** What happened meanwhile is there, and the page is still the one that was loaded. */
async function expectCaughtUp(page: Page): Promise<void> {
  await untilText(page, '[data-light]', /live/);
  await untilText(page, 'main', /refused/);
  await card(page).waitFor();
  await untilText(page, '[data-summary]', /root cause/);
  expect(await page.locator('html').getAttribute('data-same')).toBe('yes');
}

describe('a page that goes on', { timeout: LONG_MS }, () => {
  it('says that it is old while its browser is offline, and comes back', async () => {
    const page = await watchNow();
    await page.context().setOffline(true);
    watched.upstream.at('/ledger', ILL);
    await watched.poll(id);
    await expectOld(page);
    await page.context().setOffline(false);
    await expectCaughtUp(page);
    await page.context().close();
  });

  it('comes back at once when the browser does, whatever it waits for', async () => {
    const page = await watchNow();
    await pauseClock(page);
    await page.context().setOffline(true);
    // The browser knows: nobody has to wait until the silence is noticed, and no time passes here.
    await expect.poll(() => light(page)).toBe('reconnecting');
    await expectOld(page);
    await page.context().setOffline(false);
    // Nobody moves the clock: it does not wait for its turn.
    await expect.poll(() => light(page)).toBe('live');
    await page.context().close();
  });

  it('outlives a server that is gone for a minute, and shows what happened meanwhile', async () => {
    const page = await watchNow();
    const began = await at(page);
    await stage.own.stop();
    await expectOld(page);
    watched.upstream.at('/ledger', ILL);
    while ((await at(page)) - began < MINUTE_MS) await page.clock.runFor(1_000);
    expect(await light(page)).toBe('stale');
    await stage.own.start();
    await watched.poll(id);
    await expectCaughtUp(page);
    await page.context().close();
  });
});
