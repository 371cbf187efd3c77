import { expect, it } from 'vitest';
import { go, keep, pauseClock, untilText } from './harness';
import { openOwnStage } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const watched = watch(stage);

/** As long as the dashboard waits for a sign of life, and a second until it looks. */
const NOTICED_S = 11;

it('tells a lost connection, loses its colour when stale, and comes back', async () => {
  // Not `leave`d: a browser notes each refused connection on its console.
  const { page } = await stage.visit();
  await page.clock.install();
  await go(page, '/system');
  const filter = (selector: string) =>
    page.locator(selector).first().evaluate((element) => getComputedStyle(element).filter);
  expect(await filter('main')).toBe('none');
  const words = () => page.locator('tbody .status').allInnerTexts();
  await page.locator('tbody .status').first().waitFor();
  // However long the machine takes from here on, the page is as old as the test says.
  await pauseClock(page);
  const known = await words();

  await stage.own.stop();
  await untilText(page, '[data-light]', /reconnecting \d+ s/);
  await untilText(page, '[data-voice]', /connection is lost/);
  expect(await words()).toHaveLength(known.length);

  await untilText(page, '[data-light]', /stale [1-9]\d s/);
  await untilText(page, '[data-voice]', /What you see is old/);
  await untilText(page, '[data-summary]', /^\s*Old data since \d\d:\d\d:\d\d/);
  expect(await filter('main')).toBe('grayscale(1)');
  expect(await filter('nav.rail')).toBe('grayscale(1)');
  expect(await filter('[data-light]')).toBe('none');
  expect(await words()).toEqual(known.map((word) => `was ${word}`));
  await keep(page, 'stale');

  await stage.own.start();
  await untilText(page, '[data-light]', /live/);
  await untilText(page, '[data-voice]', /Live again/);
  expect(await filter('main')).toBe('none');
  await page.context().close();
});

it('tells within about ten seconds that a server stands still, which nobody told it', async () => {
  const { page } = await stage.visit();
  await page.clock.install();
  await go(page, '/system');
  await pauseClock(page);
  stage.own.freeze(true);
  try {
    await untilText(page, '[data-light]', /stale/);
    const light = await page.locator('[data-light]').innerText();
    expect(Number(/stale\s+(\d+)\ss/.exec(light)?.[1]), light).toBeLessThanOrEqual(NOTICED_S);
  } finally {
    stage.own.freeze(false);
  }
  await page.clock.resume();
  await page.waitForSelector('[data-light="live"]');
  await page.context().close();
});

it('keeps what lasts and what happened as they were last known', async () => {
  const ill = [{ name: 'vault', healthy: false, errorMessage: 'refused' }];
  await watched.add('Ledger', watched.upstream.at('/ledger', ill));
  const { page } = await stage.visit();
  await page.clock.install();
  await go(page, '/');
  const lasting = page.getByRole('article', { name: 'vault' }).locator('time').first();
  const change = page.getByRole('main').locator('li').filter({ hasText: 'vault' }).first();
  await lasting.getByText(/^for \d+\s\w+$/).waitFor();
  await change.locator('svg.down').waitFor();

  await stage.own.stop();
  await untilText(page, '[data-light]', /stale/);
  const stands = /^for \d+\s\w+ at \d\d:\d\d:\d\d$/;
  // Times are drawn once in a second: by then as they were when the server was last heard.
  await page.clock.runFor(2_000);
  const known = await lasting.innerText();
  expect(known).toMatch(stands);
  await page.clock.runFor(65_000);
  expect(await lasting.innerText()).toBe(known);
  // What happened stays true, and so does how long ago that was.
  expect(await change.locator('svg.down').count()).toBe(1);
  expect(await change.locator('.when').innerText()).toMatch(/^\d+\s*min ago$/);
  await stage.own.start();
  await page.context().close();
});
