import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { go, leave, pauseClock, untilText, type Visit } from './harness';
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

/**
 * Lets what a page shows grow old while all else is heard: another browser is the live one, so that a clock that
 * is moved faster than the server's makes nothing else old.
 */
async function growOld(page: Page, path: string): Promise<Visit> {
  await refuse(page, path);
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await page.getByText('Could not be read again').waitFor();
  expect(await page.locator('[data-light]').getAttribute('data-light')).toBe('live');
  const other = await stage.visit();
  await go(other.page, '/system');
  await page.waitForSelector('[data-light="superseded"]');
  await untilText(page, '[data-light]', /stale \d+ s/);
  await page.getByText(/^\s*Old data since \d\d:\d\d:\d\d/).waitFor();
  await page.waitForSelector('html[data-stale]');
  return other;
}

async function growFresh(page: Page, path: string, other: Visit): Promise<void> {
  await page.unroute(path);
  await untilText(page, '[data-light]', /live elsewhere/);
  await page.waitForSelector('html:not([data-stale])');
  expect(await page.getByText('Could not be read again').count()).toBe(0);
  await leave(other);
}

/** The clock's last second may have begun another try, which must not be the one that goes well. */
function idle(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Try again', disabled: false }).waitFor();
}

it('trusts Now no longer when it can not be read again', async () => {
  const { page } = here;
  const failing = { id: 'a', name: 'buy something', since: new Date().toISOString(), run_id: null, message: null, touches: [] };
  await page.route('**/api/journeys/failing', (route) => route.fulfill({ json: { items: [failing], next_cursor: null } }));
  await page.clock.install();
  await go(page, '/');
  const journey = page.getByRole('list', { name: 'Failing journeys' });
  await journey.locator('svg.down').waitFor();
  await page.locator('[data-summary] a').first().waitFor();
  const other = await growOld(page, '**/api/now');
  await journey.locator('svg.unknown').waitFor();
  await growFresh(page, '**/api/now', other);
  await journey.locator('svg.down').waitFor();
});

it('trusts the wall no longer when it can not be read again', async () => {
  const { page } = here;
  await page.clock.install();
  await go(page, '/?board');
  const tile = page.getByRole('list', { name: /^Services and what they lean on/ }).getByRole('listitem').first();
  await tile.waitFor();
  const other = await growOld(page, '**/api/wallboard');
  await tile.getByText(/^was /).first().waitFor();
  await growFresh(page, '**/api/wallboard', other);
});

it('draws the graph without the board, and says what is missing', async () => {
  const { page } = here;
  await page.clock.install();
  await refuse(page, '**/api/board');
  await go(page, '/graph');
  await page.waitForSelector('[data-drawn="4"]');
  await page.getByText('Whose the services are could not be read: Not now.').waitFor();
  await pauseClock(page);
  await idle(page);
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
  await idle(page);
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
  await page.getByText('Nothing was wrong with what it leans on.').waitFor();
});

it('stands on the wall when it fails though nobody leans on it', async () => {
  const { page } = here;
  const alone = await watched.add('Alone', watched.upstream.at('/alone', WELL));
  await go(page, '/?board');
  const tiles = page.getByRole('list', { name: /^Services and what they lean on/ }).getByRole('listitem');
  await tiles.first().waitFor();
  await tiles.filter({ hasText: 'Alone' }).getByText('nobody leans on it').waitFor();
  watched.upstream.at('/alone', 500);
  await watched.poll(alone);
  await tiles.filter({ hasText: 'Alone' }).getByText('by its own poll').waitFor();
  expect(await tiles.first().innerText()).toContain('Alone');
});
