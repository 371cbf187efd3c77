import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { go, keep, light, openBrowser, visit } from './harness';
import { Server } from './server';

const server = new Server();
let browser: Browser;

beforeAll(async () => {
  [browser] = await Promise.all([openBrowser(), server.start()]);
});

afterAll(async () => {
  await browser.close();
  await server.remove();
});

it('tells a lost connection, loses its colour when stale, and comes back', async () => {
  // Not `leave`d: a browser notes each refused connection on its console.
  const { page } = await visit(browser, server.origin);
  await page.clock.install();
  await go(page, '/system');
  const filter = (selector: string) =>
    page.locator(selector).first().evaluate((element) => getComputedStyle(element).filter);
  const voice = (words: string) =>
    page.waitForFunction(
      (wanted) => document.querySelector('[data-voice]')?.textContent?.includes(wanted),
      words,
    );
  expect(await filter('main')).toBe('none');

  await server.stop();
  await page.clock.runFor(16_000);
  await light(page, 'reconnecting');
  expect(await page.locator('[data-light]').innerText()).toMatch(/reconnecting( \d+ s)?/);
  expect(await page.locator('[data-row]').count()).toBeGreaterThan(0);

  await page.clock.runFor(20_000);
  await light(page, 'stale');
  expect(await page.locator('[data-light]').innerText()).toMatch(/stale \d+ s/);
  await voice('What you see is old');
  expect(await filter('main')).toBe('grayscale(1)');
  expect(await filter('nav')).toBe('grayscale(1)');
  expect(await filter('[data-light]')).toBe('none');
  await keep(page, 'stale');

  await server.start();
  await page.clock.runFor(16_000);
  await light(page, 'live');
  await voice('Live again');
  expect(await filter('main')).toBe('none');
  await page.context().close();
});
