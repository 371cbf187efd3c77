import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { go, look } from './harness';
import { openOwnStage, visitEach } from './stage';
import { watch } from './watched';

const one = openOwnStage();
const circle = openOwnStage();
const alone = watch(one);
const turning = watch(circle);

const drawn = (page: Page, count: number) => page.waitForSelector(`[data-drawn="${String(count)}"]`);

describe('one service that leans on nothing', () => {
  const here = visitEach(one);
  beforeAll(() => alone.add('Only', alone.upstream.at('/only', [])));

  it('is told on every page', async () => {
    const { page } = here;
    await go(page, '/');
    await page.getByText('The one service is healthy.').waitFor();
    expect((await page.locator('[data-summary]').innerText()).replace(/\s+/g, ' ')).toBe('No root cause 1 healthy');
    await go(page, '/services');
    await page.getByText('1 service', { exact: true }).waitFor();
    expect(await page.locator('[data-row]').count()).toBe(1);
    await go(page, '/activity');
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await go(page, '/?board');
    await page.getByRole('listitem').filter({ hasText: 'Only' }).getByText('nobody leans on it').waitFor();
    await go(page, '/graph');
    await drawn(page, 1);
    await page.getByText('1 node, 0 edges').waitFor();
    await look(page, 'graph-one');
  });
});

describe('a circle that fails', () => {
  const here = visitEach(circle);
  const leans = (name: string) => [{ name, healthy: false, errorMessage: `${name} timed out` }];
  beforeAll(async () => {
    const { upstream } = turning;
    await turning.add('Hen', upstream.at('/hen', leans('Egg')));
    await turning.add('Egg', upstream.at('/egg', leans('Hen')));
    await turning.add('Farm', upstream.at('/farm', leans('Hen')));
  });

  it('is one root cause on Now, with whom it hurts outside of it', async () => {
    const { page } = here;
    await go(page, '/');
    const card = page.getByRole('article', { name: /^(Hen and Egg|Egg and Hen)$/ });
    await card.getByText('circle', { exact: true }).waitFor();
    await card.getByText('1 service hurt').waitFor();
    await card.getByRole('link', { name: 'Farm' }).first().waitFor();
    expect(await page.getByRole('article').count()).toBe(1);
    await look(page, 'now-circle');
  });

  it('is drawn with every edge, and walked around by keys without an end', async () => {
    const { page } = here;
    await go(page, '/graph');
    await drawn(page, 3);
    await page.getByText('3 nodes, 3 edges · 1 root cause').waitFor();
    await page.getByText(/^(Hen and Egg|Egg and Hen) lean on each other/).waitFor();
    await page.getByRole('application').focus();
    await page.keyboard.press(']');
    const rows: (string | null)[] = [];
    for (let step = 0; step < 6; step += 1) {
      await page.keyboard.press('ArrowRight');
      rows.push(await page.evaluate(() => new URLSearchParams(location.search).get('row')));
    }
    // Two steps lead back, each time.
    expect(new Set(rows).size).toBeLessThanOrEqual(2);
    await page.keyboard.press('Enter');
    await page.locator('aside').getByText('One of a circle that fails together.').waitFor();
  });
});
