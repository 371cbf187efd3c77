import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { chord, go, leave, visit } from './harness';
import { Relay } from './relay';
import { openDemo, visitEach } from './stage';

/** In the middle of the first incident, which stands still. */
const stage = openDemo('--start-at', '50', '--hold', '--seed', '7');
const here = visitEach(stage);

/** Everybody is polled within some seconds, on a busy machine within this. */
const NOTICED_MS = 60_000;
const CAUSE = 'PostgreSQL main';
const NODE = 'external:postgresql main';
/** More presses than these nobody makes. */
const MOST_TABS = 40;

/** How long the past takes to be shown. */
const MARKED_MS = 3_000;
const card = (page: Page) => page.getByRole('article', { name: CAUSE });
const panel = (page: Page) => page.locator('aside');
const main = (page: Page) => page.getByRole('main');
const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

/** Presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let pressed = 0; pressed < MOST_TABS; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent.trim() ?? '';
    });
    if (focused === name) return;
  }
  throw new Error(`${String(MOST_TABS)} tabs do not lead to ${name}`);
}

/** The drawing as it is now, to be compared with another. */
const drawn = (page: Page) => page.locator('canvas').first().evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

beforeAll(async () => {
  const first = await stage.visit();
  await go(first.page, '/');
  // Everybody has noticed.
  await first.page.getByRole('link', { name: '11 affected' }).waitFor({ timeout: NOTICED_MS });
  await leave(first);
}, 2 * NOTICED_MS);

describe('by keys alone', () => {
  it('leads from Now to the root cause, whom it hurts, and how it was before', async () => {
    const { page } = here;
    await go(page, '/');
    await card(page).waitFor();
    await page.keyboard.press(']');
    await expect.poll(() => param(page, 'row')).toBe(NODE);
    await tabTo(page, `Show ${CAUSE} in the graph`);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/graph?*');
    expect(param(page, 'row')).toBe(NODE);
    await panel(page).getByText('It fails by itself').waitFor();
    await panel(page).getByText('It hurts 11 services.').waitFor();
    await panel(page).getByText('#platform-oncall').waitFor();
    for (const hurt of ['Orders', 'Checkout', 'Gateway']) {
      await panel(page).getByRole('button', { name: hurt }).last().waitFor();
    }
    await page.locator('[aria-live]').filter({ hasText: `${CAUSE}, external, down since` }).first().waitFor({ state: 'attached' });

    await tabTo(page, 'The moment that is shown');
    // What happened in the last second is read a little later, and belongs to the same mark.
    await expect.poll(async () => {
      await page.keyboard.press('End');
      await page.keyboard.press('PageDown');
      // Until it is marked, this leads to an earlier one, which began with less.
      const down = panel(page).getByText('was down').waitFor({ timeout: MARKED_MS });
      if (!(await down.then(() => true, () => false))) return false;
      const past = await page.getByText('You look at').isVisible();
      // Who was polled just before the first that knew of the cause is one of its own at that moment.
      return past && (await main(page).getByText(/ \d root causes?$/).isVisible());
    }, { timeout: 10 * MARKED_MS }).toBe(true);
    const during = await drawn(page);

    await page.keyboard.press('Home');
    await main(page).getByText('24 nodes, 38 edges', { exact: true }).waitFor();
    await panel(page).getByText('was healthy').waitFor();
    await expect.poll(() => drawn(page)).not.toBe(during);

    await page.keyboard.press('End');
    await page.getByText('You look at').waitFor({ state: 'detached' });
    await main(page).getByText('1 root cause').waitFor();
  });

  it('leads from a service that fails to why it does', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.waitForSelector('[data-row]');
    await page.keyboard.press(']');
    await page.keyboard.press('Enter');
    await panel(page).getByText('because of').waitFor();
    await panel(page).getByRole('link', { name: 'Open the page' }).press('Enter');
    await page.waitForURL(/\/services\/[\da-f-]{36}$/);
    await main(page).getByText('because of').waitFor();
    await tabTo(page, CAUSE);
    await page.keyboard.press('Enter');
    await card(page).waitFor();
    expect(param(page, 'row')).toBe(NODE);
    await card(page).getByText('#platform-oncall').waitFor();
  });
});

it('marks what a failing journey crosses, in the graph and in its words', async () => {
  const { page } = here;
  const id = await stage.asAdmin(async (api) => (await api.list<{ id: string }>('/api/services?q=Orders'))[0]?.id ?? '');
  await go(page, `/graph?row=${id}`);
  await page.locator('[aria-live]').filter({ hasText: /Orders.*, journey .*buy something.* fails/ }).first().waitFor({ state: 'attached' });
  await page.getByText('Legend', { exact: true }).click();
  await page.getByText('a journey across it fails').waitFor();
});

it('takes in a service by a mapping that is tried on its endpoint', async () => {
  const { page } = here;
  const endpoint = await stage.asAdmin(async (api) => {
    const [catalog] = await api.list<{ health_endpoint: string }>('/api/services?q=Catalog');
    return catalog?.health_endpoint ?? '';
  });
  const tester = page.getByRole('region', { name: 'What Mainstay would read' });
  await go(page, '/services/new');
  await page.getByLabel('Name', { exact: true }).fill('Catalog canary');
  await page.getByLabel('Health endpoint', { exact: true }).fill(endpoint);
  await page.getByRole('radio', { name: /^schema/ }).check();
  await page.getByLabel('Start from a mapping').selectOption('Spring Boot Actuator');
  await tester.getByText('4 dependencies').waitFor();
  expect(await tester.getByRole('row').filter({ hasText: 'db' }).first().innerText()).toContain('down');
  await page.getByRole('button', { name: 'Add the service' }).click();
  await page.waitForURL(/\/services\/[\da-f-]{36}$/);
  // It leans on what fails, and is hurt by it as soon as it is asked.
  await main(page).getByText('because of').waitFor();
  await chord(page, 'gn');
  await card(page).getByText('12 services hurt').waitFor();
  const id = await stage.asAdmin(async (api) => (await api.list<{ id: string }>('/api/services?q=canary'))[0]?.id ?? '');
  await stage.asAdmin((api) => api.delete(`/api/services/${id}`));
  await card(page).getByText('11 services hurt').waitFor();
});

it('tells two tabs by one connection', async () => {
  const relay = new Relay();
  await relay.start(stage.origin);
  const browser = await visit(stage.browser, relay.origin(), { storageState: stage.admin });
  await go(browser.page, '/');
  const second = await browser.page.context().newPage();
  await go(second, '/graph');
  await card(browser.page).waitFor();
  await main(second).getByText('1 root cause').waitFor();
  expect(relay.streams).toHaveLength(1);
  expect(relay.open).toHaveLength(1);
  await leave(browser);
  await relay.stop();
});
