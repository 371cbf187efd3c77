import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { chord, expectAccessible, go, lookAround } from './harness';
import { openOwnStage, visitEach } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);
const ids: Record<string, string> = {};
/** When everything was well, and when it was not. */
let wellAt = '';

const leans = (names: Record<string, boolean>) =>
  Object.entries(names).map(([name, healthy]) => ({
    name,
    healthy,
    ...(healthy ? {} : { errorMessage: 'timed out' }),
  }));

const drawing = (page: Page) => page.getByRole('application', { name: /^Graph of what leans on what/ });
const scrubber = (page: Page) => page.getByRole('slider', { name: 'The moment that is shown' });
const panel = (page: Page) => page.locator('aside');
const tells = (page: Page, text: string) => page.locator('[aria-live]').filter({ hasText: text }).first().waitFor({ state: 'attached' });

async function open(page: Page, more = ''): Promise<void> {
  await go(page, `/graph${more}`);
  await page.waitForSelector('[data-drawn]');
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

describe('before there is any service', () => {
  it('says how to add the first one', async () => {
    await go(here.page, '/graph');
    await here.page.getByRole('heading', { name: 'Nothing is watched yet.' }).waitFor();
  });
});

describe('the graph', () => {
  beforeAll(async () => {
    const { upstream } = watched;
    ids['checkout'] = await watched.add('Checkout', upstream.at('/checkout', leans({ Orders: true })), { team: 'Shop' });
    ids['orders'] = await watched.add('Orders', upstream.at('/orders', leans({ 'orders-db': true })), { team: 'Shop' });
    ids['ledger'] = await watched.add('Ledger', upstream.at('/ledger', leans({ 'orders-db': true, Audit: true })), { team: 'Pay' });
    ids['audit'] = await watched.add('Audit', upstream.at('/audit', leans({ Ledger: true })), { team: 'Pay' });
    // A moment of its own, apart from both changes.
    await wait(500);
    wellAt = new Date().toISOString();
    await wait(500);
    upstream.at('/orders', leans({ 'orders-db': false }));
    await watched.poll(ids['orders'] ?? '');
  });

  it('draws everything, and tells of the circle', async () => {
    const { page } = here;
    await open(page);
    await page.waitForSelector('[data-drawn="5"]');
    await page.getByText('5 nodes, 5 edges · 1 root cause').waitFor();
    await page.getByText(/^(Ledger and Audit|Audit and Ledger) lean on each other/).waitFor();
  });

  it('leads to the root cause by keys alone, and tells what it is', async () => {
    const { page } = here;
    await open(page, `?row=${ids['checkout'] ?? ''}`);
    await drawing(page).focus();
    await page.keyboard.press('ArrowRight');
    await tells(page, 'Orders, degraded since');
    await page.keyboard.press('ArrowRight');
    await tells(page, 'orders-db, external, down since');
    await tells(page, 'root cause, hurts 1 of 4 services, contradicted');
    await page.keyboard.press('Enter');
    await panel(page).getByText('It fails by itself').waitFor();
    await panel(page).getByRole('button', { name: 'Checkout' }).waitFor();
    await panel(page).getByText('says healthy').first().waitFor();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).searchParams.get('row')).toBeNull();
  });

  it('is where the arrows begin', async () => {
    const { page } = here;
    await open(page);
    await drawing(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/row=external%3Aorders-db/);
  });

  it('is where the arrows begin for who has just come, by keys or by the address', async () => {
    const { page } = here;
    await open(page);
    await page.waitForSelector('[data-drawn="5"]');
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/row=external%3Aorders-db/);
    await go(page, '/');
    await chord(page, 'gg');
    await page.waitForSelector('[data-drawn="5"]');
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/row=external%3Aorders-db/);
    await page.keyboard.press('ArrowLeft');
    await tells(page, 'Orders, degraded since');
  });

  it('is the first of the rows, whoever walks by brackets', async () => {
    const { page } = here;
    await open(page);
    await page.keyboard.press(']');
    await page.waitForURL(/row=external%3Aorders-db/);
    expect(await drawing(page).evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it('finds a node by its name', async () => {
    const { page } = here;
    await open(page);
    await page.keyboard.press('/');
    await page.keyboard.type('audit');
    await page.getByText('1 of 5 nodes').waitFor();
    await page.keyboard.press('Enter');
    await tells(page, 'Audit, healthy');
  });

  it('folds teams, and the address holds it', async () => {
    const { page } = here;
    await open(page);
    await page.getByRole('button', { name: /Shop/ }).click();
    await page.waitForSelector('[data-drawn="4"]');
    expect(new URL(page.url()).searchParams.get('teams')).toBe('Shop');
    await page.reload();
    await page.waitForSelector('[data-drawn="4"]');
    await page.getByRole('button', { name: 'Fold all' }).click();
    await page.waitForSelector('[data-drawn="3"]');
  });

  it('shows only what is around a service', async () => {
    const { page } = here;
    await open(page, `?service=${ids['checkout'] ?? ''}&depth=1`);
    await page.waitForSelector('[data-drawn="2"]');
    await page.getByText('Only around Checkout').waitFor();
    await page.getByRole('button', { name: 'Show everything', exact: true }).first().click();
    await page.waitForSelector('[data-drawn="5"]');
  });

  it('shows the past by the scrubber, and returns to live', async () => {
    const { page } = here;
    await open(page, `?at=${encodeURIComponent(wellAt)}`);
    await page.getByText('You look at').waitFor();
    await page.getByText('5 nodes, 5 edges', { exact: true }).waitFor();
    // The line above is of now, and says so.
    const isNow = page.locator('[data-summary]').getByText('now', { exact: true });
    await isNow.waitFor();
    await page.getByRole('button', { name: 'Back to live' }).click();
    await isNow.waitFor({ state: 'detached' });
    await page.getByRole('main').getByText('1 root cause').waitFor();
    expect(new URL(page.url()).searchParams.get('at')).toBeNull();
    await scrubber(page).focus();
    // Until the marks are read, there is none to go to.
    await page.getByRole('button', { name: /Back to: Incident .*, orders-db down/ }).waitFor();
    await page.keyboard.press('PageDown');
    await page.getByText('You look at').waitFor();
    await expect.poll(() => scrubber(page).getAttribute('aria-valuetext')).toMatch(/ago, orders-db down, 1 hurt, .* so far$/);
    await page.getByRole('main').getByText('1 root cause').waitFor();
    await page.locator('[data-light="live"]').waitFor();
    await page.keyboard.press('End');
    await page.getByText('You look at').waitFor({ state: 'detached' });
  });

  it('stays where it is while its left end is held', async () => {
    const { page } = here;
    await open(page);
    const box = await scrubber(page).boundingBox();
    if (box === null) throw new Error('the scrubber is on the page');
    const end = () => scrubber(page).getAttribute('aria-valuemin');
    await page.mouse.move(box.x + box.width / 2, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x, box.y + 10);
    await page.getByText('You look at').waitFor();
    const before = await end();
    for (let step = 0; step < 25; step += 1) {
      await wait(100);
      await page.mouse.move(box.x - (step % 2), box.y + 10);
    }
    expect(Number(await end()) - Number(before)).toBe(0);
    await page.mouse.up();
    await wait(1_500);
    expect(Number(await end()) - Number(before)).toBe(0);
  });

  it('plays on from a moment until now', async () => {
    const { page } = here;
    await open(page, `?at=${encodeURIComponent(wellAt)}`);
    await page.getByLabel('How fast it plays').selectOption('60');
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText('You look at').waitFor({ state: 'detached' });
    await page.getByRole('main').getByText('1 root cause').waitFor();
  });

  it('is there as a list with the same rows and the same panel', async () => {
    const { page } = here;
    await open(page);
    await page.getByRole('button', { name: 'As a list' }).click();
    const first = page.locator('[data-row]').first();
    expect(await first.innerText()).toContain('orders-db');
    await page.getByRole('row').filter({ hasText: 'root cause, hurts 1 of 4 services' }).waitFor();
    await first.press('Enter');
    await panel(page).getByText('It fails by itself').waitFor();
    await expectAccessible(page, 'graph as a list');
  });

  it('follows what happens within two seconds, with one read for it', async () => {
    const { page } = here;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/graph') asked.push(request.url());
    });
    await open(page);
    await page.getByRole('main').getByText('1 root cause').waitFor();
    await wait(2_500);
    const before = asked.length;
    watched.upstream.at('/orders', leans({ 'orders-db': true }));
    await watched.poll(ids['orders'] ?? '');
    await page.getByText('5 nodes, 5 edges', { exact: true }).waitFor();
    await wait(3_000);
    // Checkout leans on Orders and may be polled meanwhile, which is another thing that happens.
    expect(asked.length - before).toBeLessThanOrEqual(2);
    watched.upstream.at('/orders', leans({ 'orders-db': false }));
    await watched.poll(ids['orders'] ?? '');
    await page.getByRole('main').getByText('1 root cause').waitFor();
  });

  it.each([
    ['graph', ''],
    ['graph-selected', '?row=external%3Aorders-db&inspector=open'],
    ['graph-folded', '?teams=*'],
    ['graph-list', '?view=list'],
    ['graph-past', 'past'],
  ])('%s is clean and accessible, and fits', async (name, more) => {
    const { page } = here;
    await go(page, `/graph${more === 'past' ? `?at=${encodeURIComponent(wellAt)}` : more}`);
    await page.waitForSelector(more === '?view=list' ? '[data-row]' : '[data-drawn]');
    await lookAround(page, name);
  });
});
