import { beforeAll, describe, expect, it } from 'vitest';
import { chord, go, leave, type Visit } from './harness';
import { openOwnStage, visitEach } from './stage';
import { ILL, WELL } from './upstream';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);

const row = (name: string) => here.page.getByRole('row').filter({ hasText: name });
const names = async () =>
  (await here.page.locator('[data-row] [role=rowheader] bdi').allInnerTexts()).map((name) => name.trim());
/** It is read by itself, and may come after the list. */
const summary = async () => (await here.page.locator('[data-summary]').innerText()).replace(/\s+/g, ' ');
const address = () => new URL(here.page.url()).pathname + new URL(here.page.url()).search;

describe('before there is any', () => {
  it('the list says how to add the first one', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.getByRole('heading', { name: 'Nothing is watched yet.' }).waitFor();
    expect(await page.locator('[data-copy="command"]').innerText()).toContain('/api/services');
    await expect.poll(summary).toBe('Nothing watched yet');
    await page.getByRole('link', { name: 'Add the first service' }).click();
    await page.waitForURL('**/services/new');
  });
});

describe('the list', () => {
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    const { upstream } = watched;
    ids['orders'] = await watched.add('Orders', upstream.at('/orders', WELL), { team: 'Shop' });
    ids['billing'] = await watched.add('Billing', upstream.at('/billing', ILL), { team: 'Money' });
    ids['ledger'] = await watched.add('Ledger', upstream.at('/ledger', 503), { team: 'Money' });
    ids['asleep'] = await watched.add('Asleep', upstream.at('/asleep', []), { is_active: false });
  });

  it('shows how each is in words, with what it leans on', async () => {
    await go(here.page, '/services');
    await here.page.waitForSelector('[data-row]');
    expect(await names()).toEqual(['Ledger', 'Billing', 'Orders', 'Asleep']);
    expect(await row('Ledger').innerText()).toContain('down');
    expect(await row('Asleep').innerText()).toContain('inactive');
    expect((await row('Billing').innerText()).replace(/\s+/g, ' ')).toMatch(/degraded .*1 down 1 degraded 1 healthy/);
    await expect.poll(summary).toBe('3 root causes 1 affected 1 healthy');
  });

  it('keeps the name of a root cause whole on a phone', async () => {
    const { page } = here;
    await page.setViewportSize({ width: 390, height: 844 });
    await go(page, '/services');
    await row('Ledger').getByText('root cause').waitFor({ state: 'attached' });
    const isCut = await row('Ledger').locator('bdi').first().evaluate((name) => name.scrollWidth > name.clientWidth);
    expect(isCut).toBe(false);
    expect(await row('Ledger').innerText()).toContain('root cause');
  });

  it('is polled and shown in the graph by the palette, by who may', async () => {
    const { page } = here;
    const type = async (visit: Visit, needle: string) => {
      await visit.page.keyboard.press('Control+k');
      await visit.page.keyboard.type(needle);
    };
    const offered = (visit: Visit) => visit.page.getByRole('option').allInnerTexts();
    await go(page, '/services');
    await page.waitForSelector('[data-row]');
    await type(here, 'poll');
    await page.getByRole('option', { name: /^Poll Ledger now/ }).waitFor();
    expect((await offered(here)).join()).not.toContain('Poll Asleep');
    await page.keyboard.type(' orders');
    await page.locator('[aria-selected="true"]').getByText('Poll Orders now').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^Orders: Answered in/).first().waitFor();

    await type(here, 'show ledger');
    await page.getByRole('option', { name: /^Show Ledger in the graph/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/graph?row=${ids['ledger'] ?? ''}&inspector=open`);

    const viewer = await stage.visit({}, await stage.newPerson('vera@example.com', 'viewer'));
    await go(viewer.page, '/services');
    await viewer.page.waitForSelector('[data-row]');
    await type(viewer, 'orders');
    await viewer.page.getByRole('option', { name: /^Show Orders in the graph/ }).waitFor();
    expect((await offered(viewer)).join()).not.toContain('Poll');
    await leave(viewer);
  });

  it('changes a row without being loaded again, and tells it aloud', async () => {
    const { page } = here;
    await go(page, '/services');
    await row('Orders').getByText('healthy').first().waitFor();
    await page.evaluate(() => (document.documentElement.dataset['same'] = 'yes'));
    watched.upstream.at('/orders', 500);
    await watched.poll(ids['orders'] ?? '');
    await row('Orders').getByText('down', { exact: true }).waitFor();
    await page.waitForFunction(() =>
      document.querySelector('[data-voice]')?.textContent?.includes('Orders is down'),
    );
    watched.upstream.at('/orders', WELL);
    await watched.poll(ids['orders'] ?? '');
    await row('Orders').getByText('healthy').first().waitFor();
    expect(await page.locator('html').getAttribute('data-same')).toBe('yes');
  });

  it('shows one that somebody else adds, and drops one that somebody else deletes', async () => {
    const { page } = here;
    // It may be read for the inspector while it goes.
    here.mayRefuse(404);
    await go(page, '/services?sort=name');
    await row('Orders').waitFor();
    const id = await watched.add('Newcomer', watched.upstream.at('/new', WELL));
    await row('Newcomer').getByText('healthy').first().waitFor();
    await stage.asAdmin((api) => api.delete(`/api/services/${id}`));
    await row('Newcomer').waitFor({ state: 'detached' });
  });

  it('is narrowed and ordered, and the address holds it', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.waitForSelector('[data-row]');
    await page.keyboard.press('/');
    await page.keyboard.type('team:mon');
    await expect.poll(names).toEqual(['Ledger', 'Billing']);
    await page.keyboard.type(' status:down');
    await expect.poll(names).toEqual(['Ledger']);
    await page.locator('[data-filter]').fill('team:mon');
    // The suggestions lie over the table while somebody writes.
    await page.keyboard.press('Escape');
    const sort = page.getByRole('columnheader', { name: 'Service', exact: true });
    await sort.getByRole('button').click();
    await expect.poll(names).toEqual(['Billing', 'Ledger']);
    expect(await sort.getAttribute('aria-sort')).toBe('ascending');
    await sort.getByRole('button').click();
    await expect.poll(names).toEqual(['Ledger', 'Billing']);
    expect(address()).toBe('/services?sort=-name&filter=team%3Amon');
    await page.reload();
    await expect.poll(names).toEqual(['Ledger', 'Billing']);
    await page.locator('[data-filter]').fill('no such thing');
    await page.getByText('No service matches.').waitFor();
    // What an older address asked for is a filter now.
    await go(page, '/services?status=down&team=Money');
    await expect.poll(names).toEqual(['Ledger']);
    expect(await page.locator('[data-filter]').inputValue()).toBe('status:down team:Money');
  });

  it('takes a suggestion by key, and hides nothing by a slip', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.waitForSelector('[data-row]');
    await page.keyboard.press('/');
    await page.keyboard.type('sta');
    await page.getByRole('option', { name: /^status:/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.locator('[data-filter]').inputValue()).toBe('status:');
    await page.keyboard.type('dwon');
    await page.getByText('not dwon').waitFor();
    await expect.poll(names).toHaveLength(4);
    await page.getByRole('button', { name: 'Use status:down' }).click();
    await expect.poll(names).toEqual(['Ledger']);
  });

  it('finds by what a service leans on', async () => {
    await go(here.page, '/services?filter=dep:orders-db');
    await expect.poll(names).toContain('Orders');
    expect(await names()).not.toContain('Ledger');
  });

  it('is walked by keys, from the list to the page', async () => {
    const { page } = here;
    await go(page, '/');
    await chord(page, 'gs');
    await page.waitForURL('**/services');
    await page.waitForSelector('[data-row]');
    await page.keyboard.press(']');
    await page.keyboard.press('Enter');
    expect(await page.locator('aside h2').innerText()).toBe('Ledger');
    await page.locator('aside').getByText('http_status').waitFor();
    await page.locator('aside').getByRole('link', { name: 'Open the page' }).press('Enter');
    await page.waitForURL(`**/services/${ids['ledger'] ?? ''}`);
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await page.goBack();
    await page.waitForSelector('aside');
  });

  it('tells each part of the last day to who walks it by keys', async () => {
    const { page } = here;
    await go(page, `/services?row=${ids['ledger'] ?? ''}&inspector=open`);
    const strip = page.locator('aside').getByRole('slider', { name: 'The last 24 hours' });
    const told = () => strip.getAttribute('aria-valuetext');
    await expect.poll(told).toMatch(/^Last 24 h: /);
    await strip.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(told).toMatch(/^\d\d:\d\d to now: down$/);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(told).toMatch(/^\d\d:\d\d to \d\d:\d\d: (?:not watched yet|down)$/);
    const before = Number(await strip.getAttribute('aria-valuenow'));
    await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => Number(await strip.getAttribute('aria-valuenow'))).toBe(before - 1);
    await page.keyboard.press('End');
    await expect.poll(told).toMatch(/to now: down$/);
    await page.keyboard.press('Escape');
    await expect.poll(told).toMatch(/^Last 24 h: /);
  });

  it('tells them in the list too, in the row that has the focus', async () => {
    const { page } = here;
    await go(page, '/services');
    const row = page.locator(`[data-row="${ids['ledger'] ?? ''}"]`);
    await row.getByRole('img', { name: /^last 24 h: (?!being read)/ }).waitFor();
    await row.focus();
    const told = page.locator('[data-row-told]');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => told.textContent()).toMatch(/^\d\d:\d\d to now: down$/);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => told.textContent()).toMatch(/^\d\d:\d\d to \d\d:\d\d: (?:not watched yet|down)$/);
    // The first Escape ends the walk, and only the next one leaves the row.
    await page.keyboard.press('Escape');
    await expect.poll(() => told.textContent()).toBe('');
    expect(await row.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await row.getAttribute('aria-selected')).toBe('true');
  });

  it('offers nothing to change to who may only look', async () => {
    const viewer = await stage.newPerson('vic@example.com', 'viewer');
    const visit: Visit = await stage.visit({}, viewer);
    await go(visit.page, '/services');
    await visit.page.waitForSelector('[data-row]');
    expect(await visit.page.getByRole('link', { name: 'Add a service' }).count()).toBe(0);
    await go(visit.page, `/services/${ids['orders'] ?? ''}`);
    await visit.page.getByRole('button', { name: 'orders-db', exact: true }).waitFor();
    expect(await visit.page.getByRole('button', { name: /Poll now|Delete|Deactivate/ }).count()).toBe(0);
    await go(visit.page, '/services/new');
    await visit.page.getByText('changed by editors and admins').waitFor();
    await leave(visit);
  });

  it('stands on Now with what is not healthy', async () => {
    const { page } = here;
    await go(page, '/');
    await page.getByRole('article', { name: 'Ledger' }).getByText('down').waitFor();
    // Billing fails because of what it leans on: that has the card.
    await page.getByRole('article', { name: 'payments' }).getByText('timed out').waitFor();
    expect(await page.getByRole('article', { name: /Billing|Asleep/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Open Ledger' }).click();
    await page.waitForURL(`**/services/${ids['ledger'] ?? ''}`);
  });
});
