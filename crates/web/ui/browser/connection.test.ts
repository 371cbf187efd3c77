import { expect, it } from 'vitest';
import { go, keep, untilText } from './harness';
import { openOwnStage } from './stage';

const stage = openOwnStage();

it('tells a lost connection, loses its colour when stale, and comes back', async () => {
  // Not `leave`d: a browser notes each refused connection on its console.
  const { page } = await stage.visit();
  await page.clock.install();
  await go(page, '/system');
  const filter = (selector: string) =>
    page.locator(selector).first().evaluate((element) => getComputedStyle(element).filter);
  expect(await filter('main')).toBe('none');

  await stage.own.stop();
  await untilText(page, '[data-light]', /reconnecting \d+ s/);
  await untilText(page, '[data-voice]', /connection is lost/);
  expect(await page.locator('[data-row]').count()).toBeGreaterThan(0);

  await untilText(page, '[data-light]', /stale 3\d s/);
  await untilText(page, '[data-voice]', /What you see is old/);
  await untilText(page, '[data-summary]', /^\s*Old data since \d\d:\d\d:\d\d/);
  expect(await filter('main')).toBe('grayscale(1)');
  expect(await filter('nav.rail')).toBe('grayscale(1)');
  expect(await filter('[data-light]')).toBe('none');
  const words = await page.locator('tbody .status').allTextContents();
  expect(new Set(words)).toEqual(new Set(['was healthy']));
  await keep(page, 'stale');

  await stage.own.start();
  await untilText(page, '[data-light]', /live/);
  await untilText(page, '[data-voice]', /Live again/);
  expect(await filter('main')).toBe('none');
  await page.context().close();
});
