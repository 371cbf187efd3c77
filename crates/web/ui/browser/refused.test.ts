import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { go, pauseClock } from './harness';
import { openOwnStage, visitEach } from './stage';
import { WELL } from './upstream';
import { watch } from './watched';

/** What a page shows when one of the answers that it is made of does not come. */
const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);
let id = '';

beforeAll(async () => {
  id = await watched.add('Orders', watched.upstream.at('/orders', WELL), { team: 'Shop' });
});

async function refuse(page: Page, path: RegExp | string): Promise<void> {
  here.mayRefuse(503);
  const json = { error: 'Not now', code: 'unavailable', detail: 'Try again.' };
  await page.route(path, (route) => route.fulfill({ status: 503, json }));
}

it('draws the graph without the board, and says what is missing', async () => {
  const { page } = here;
  await page.clock.install();
  await refuse(page, '**/api/board');
  await go(page, '/graph');
  await page.waitForSelector('[data-drawn="4"]');
  await page.getByText('Whose the services are could not be read: Not now.').waitFor();
  await pauseClock(page);
  await page.unroute('**/api/board');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Whose the services are').waitFor({ state: 'detached' });
});

it('finds nothing by what a service leans on while that can not be read, and says so', async () => {
  const { page } = here;
  await page.clock.install();
  await refuse(page, '**/api/graph');
  await go(page, '/services?filter=dep%3Aorders');
  await page.getByText('Not now').first().waitFor();
  expect(await page.locator('[data-row]').count()).toBe(0);
  await pauseClock(page);
  await page.unroute('**/api/graph');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('[data-row]').filter({ hasText: 'Orders' }).waitFor();
});

it('tells a lane that could not be read from one that is still read', async () => {
  const { page } = here;
  const dependencies = await stage.asAdmin(async (api) => {
    const answer = await (await api.get(`/api/services/${id}`)).json() as { dependencies: { id: string; name: string }[] };
    return answer.dependencies;
  });
  const one = dependencies.find(({ name }) => name === 'payments')?.id ?? '';
  await refuse(page, `**/api/dependencies/${one}/timeline*`);
  await go(page, `/services/${id}`);
  await page.getByText('could not be read', { exact: true }).waitFor();
  expect(await page.getByText('could not be read', { exact: true }).count()).toBe(1);
  await page.getByText('What was wrong could not be read.').waitFor();
  await page.unroute(`**/api/dependencies/${one}/timeline*`);
  // It is tried again by itself.
  await page.getByText('could not be read', { exact: true }).waitFor({ state: 'detached' });
  await page.getByText('Nothing was wrong.').waitFor();
});

it('stands on the wall when it fails though nobody leans on it', async () => {
  const { page } = here;
  const alone = await watched.add('Alone', watched.upstream.at('/alone', WELL));
  await go(page, '/?board');
  const tiles = page.getByRole('list', { name: /^What everything leans on/ }).getByRole('listitem');
  await tiles.first().waitFor();
  expect(await tiles.filter({ hasText: 'Alone' }).count()).toBe(0);
  watched.upstream.at('/alone', 500);
  await watched.poll(alone);
  await tiles.filter({ hasText: 'Alone' }).getByText('by its own poll').waitFor();
  expect(await tiles.first().innerText()).toContain('Alone');
});
