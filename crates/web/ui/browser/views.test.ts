import type { Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectNoOverflow, go, leave, look } from './harness';
import { openStage } from './stage';
import { OUTSIDE, populate, VIEWS } from './views';

const stage = openStage();

beforeAll(() => populate(stage));

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 375, height: 720 };
const inside = Object.entries(VIEWS).map(([name, open]) => ({ name, open, signedIn: true }));
const outside = Object.entries(OUTSIDE).map(([name, open]) => ({ name, open, signedIn: false }));
const all = [...inside, ...outside];

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  it.each(all)('$name opens clean and accessible', async ({ name, open, signedIn }) => {
    const options = { colorScheme, viewport: WIDE };
    const wide = await (signedIn ? stage.visit(options) : stage.visitOutside(options));
    await open(wide.page, stage);
    expect(await wide.page.locator('html').getAttribute('data-theme')).toBe(colorScheme);
    await look(wide.page, `${name}-${colorScheme}`);
    await leave(wide);
  });

  it.each(all)('$name fits a telephone', async ({ name, open, signedIn }) => {
    const options = { colorScheme, viewport: NARROW };
    const narrow = await (signedIn ? stage.visit(options) : stage.visitOutside(options));
    await open(narrow.page, stage);
    await look(narrow.page, `${name}-${colorScheme}-narrow`);
    await leave(narrow);
  });
});

describe('anywhere', () => {
  it.each(all)('$name fits at double zoom', async ({ name, open, signedIn }) => {
    const options = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
    const zoomed = await (signedIn ? stage.visit(options) : stage.visitOutside(options));
    await open(zoomed.page, stage);
    await expectNoOverflow(zoomed.page, name);
    await leave(zoomed);
  });

  it('says in a sentence that it needs scripts', async () => {
    const without = await stage.visit({ javaScriptEnabled: false });
    await without.page.goto('/');
    const text = await without.page.locator('noscript').innerText();
    expect(text).toContain('needs JavaScript');
    await leave(without);
  });

  it.each(['/', '/admin/audit'])('weighs little at the first load of %s', async (path) => {
    const first = await stage.visit();
    const finished: Request[] = [];
    first.page.on('requestfinished', (request) => finished.push(request));
    await go(first.page, path);
    await first.page.waitForLoadState('networkidle');
    // Asked for in the end, so that none is still open when the page is left.
    const sizes = await Promise.all(finished.map((request) => request.sizes()));
    const total = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(total).toBeGreaterThan(1_000);
    expect(total).toBeLessThanOrEqual(120 * 1024);
    await leave(first);
  });
});
