import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, expectNoOverflow, go, keep, leave, openBrowser, visit } from './harness';
import { Server } from './server';
import { VIEWS } from './views';

const server = new Server();
let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
  await server.start();
});

afterAll(async () => {
  await browser.close();
  await server.remove();
});

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  it.each(Object.entries(VIEWS))('%s opens clean and accessible', async (name, open) => {
    const wide = await visit(browser, server.origin, {
      colorScheme: theme,
      viewport: { width: 1280, height: 800 },
    });
    await open(wide.page);
    expect(await wide.page.locator('html').getAttribute('data-theme')).toBe(theme);
    await keep(wide.page, `${name}-${theme}`);
    await expectAccessible(wide.page, name);
    await leave(wide);
  });

  it.each(Object.entries(VIEWS))('%s fits a telephone', async (name, open) => {
    const narrow = await visit(browser, server.origin, {
      colorScheme: theme,
      viewport: { width: 375, height: 720 },
    });
    await open(narrow.page);
    await keep(narrow.page, `${name}-${theme}-narrow`);
    await expectNoOverflow(narrow.page, name);
    await expectAccessible(narrow.page, name);
    await leave(narrow);
  });
});

describe('anywhere', () => {
  it.each(Object.entries(VIEWS))('%s fits at double zoom', async (name, open) => {
    const zoomed = await visit(browser, server.origin, {
      viewport: { width: 640, height: 400 },
      deviceScaleFactor: 2,
    });
    await open(zoomed.page);
    await expectNoOverflow(zoomed.page, name);
    await leave(zoomed);
  });

  it('says in a sentence that it needs scripts', async () => {
    const without = await visit(browser, server.origin, { javaScriptEnabled: false });
    await without.page.goto('/');
    const text = await without.page.locator('noscript').innerText();
    expect(text).toContain('needs JavaScript');
    await leave(without);
  });

  it('weighs little at the first load', async () => {
    const first = await visit(browser, server.origin);
    const sizes: Promise<number>[] = [];
    first.page.on('requestfinished', (request) => {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await go(first.page, '/');
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(1_000);
    expect(total).toBeLessThanOrEqual(120 * 1024);
    await leave(first);
  });
});
