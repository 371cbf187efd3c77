import type { Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { go, leave, lookAround, type Visit } from './harness';
import { openStage } from './stage';
import { OUTSIDE, populate, VIEWS } from './views';

const stage = openStage();

beforeAll(() => populate(stage));

describe.each([
  { whose: 'somebody who is signed in', views: VIEWS, enter: () => stage.visit() },
  { whose: 'somebody who is not', views: OUTSIDE, enter: () => stage.visitOutside() },
])('the views of $whose', ({ views, enter }) => {
  let current: Visit | undefined;
  beforeAll(async () => {
    current = await enter();
  });
  afterAll(() => current?.page.context().close());

  it.each(Object.entries(views))('%s is clean and accessible, and fits', async (name, open) => {
    if (!current) throw new Error('a page opens before the first view');
    const { page, complaints } = current;
    await open(page, stage);
    await lookAround(page, name);
    expect(complaints.splice(0)).toEqual([]);
  });
});

describe('anywhere', () => {
  it.each(['light', 'dark'] as const)('begins in the %s theme where that is the system’s', async (colorScheme) => {
    const first = await stage.visit({ colorScheme });
    await go(first.page, '/');
    expect(await first.page.locator('html').getAttribute('data-theme')).toBe(colorScheme);
    await leave(first);
  });

  it('says in a sentence that it needs scripts', async () => {
    const without = await stage.visit({ javaScriptEnabled: false });
    await without.page.goto('/');
    const text = await without.page.locator('noscript').innerText();
    expect(text).toContain('needs JavaScript');
    await leave(without);
  });

  it.each(['/', '/admin/audit', '/reports'])('weighs little at the first load of %s', async (path) => {
    const first = await stage.visit();
    const underWay = new Set<Request>();
    const finished: Request[] = [];
    first.page.on('request', (request) => {
      // The stream of events has no end.
      if (!request.url().includes('/api/events')) underWay.add(request);
    });
    first.page.on('requestfinished', (request) => {
      underWay.delete(request);
      finished.push(request);
    });
    await go(first.page, path);
    await expect.poll(() => underWay.size).toBe(0);
    // Asked for in the end, so that none is still open when the page is left.
    const sizes = await Promise.all(finished.map((request) => request.sizes()));
    const total = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(total).toBeGreaterThan(1_000);
    expect(total).toBeLessThanOrEqual(120 * 1024);
    await leave(first);
  });
});
