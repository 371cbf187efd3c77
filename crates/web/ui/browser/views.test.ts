import type { Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible, expectNoOverflow, go, keep, leave, visit } from './harness';
import { openStage } from './stage';
import { VIEWS } from './views';

const stage = openStage();

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  it.each(Object.entries(VIEWS))('%s opens clean and accessible', async (name, open) => {
    const wide = await visit(stage.browser, stage.server.origin, {
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
    const narrow = await visit(stage.browser, stage.server.origin, {
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
    const zoomed = await visit(stage.browser, stage.server.origin, {
      viewport: { width: 640, height: 400 },
      deviceScaleFactor: 2,
    });
    await open(zoomed.page);
    await expectNoOverflow(zoomed.page, name);
    await leave(zoomed);
  });

  it('says in a sentence that it needs scripts', async () => {
    const without = await visit(stage.browser, stage.server.origin, { javaScriptEnabled: false });
    await without.page.goto('/');
    const text = await without.page.locator('noscript').innerText();
    expect(text).toContain('needs JavaScript');
    await leave(without);
  });

  it('weighs little at the first load', async () => {
    const first = await visit(stage.browser, stage.server.origin);
    const finished: Request[] = [];
    first.page.on('requestfinished', (request) => finished.push(request));
    await go(first.page, '/');
    await first.page.waitForLoadState('networkidle');
    // Asked for in the end, so that none is still open when the page is left.
    const sizes = await Promise.all(finished.map((request) => request.sizes()));
    const total = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(total).toBeGreaterThan(1_000);
    expect(total).toBeLessThanOrEqual(120 * 1024);
    await leave(first);
  });
});
