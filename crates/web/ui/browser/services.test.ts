import { beforeAll, describe, expect, it } from 'vitest';
import { go, leave, type Visit } from './harness';
import { openOwnStage, visitEach } from './stage';
import { ILL, WELL } from './upstream';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);

const row = (name: string) => here.page.getByRole('row').filter({ hasText: name });
const names = () => here.page.locator('[data-row]').allInnerTexts();
const address = () => new URL(here.page.url()).pathname + new URL(here.page.url()).search;

describe('before there is any', () => {
  it('the list says how to add the first one', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.getByRole('heading', { name: 'Nothing is watched yet.' }).waitFor();
    expect(await page.locator('[data-copy="command"]').innerText()).toContain('/api/services');
    expect(await page.locator('[data-summary]').innerText()).toBe('Nothing watched yet');
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
    expect((await names()).map((name) => name.trim())).toEqual(['Ledger', 'Billing', 'Asleep', 'Orders']);
    expect(await row('Ledger').innerText()).toContain('down');
    expect(await row('Asleep').innerText()).toContain('inactive');
    expect((await row('Billing').innerText()).replace(/\s+/g, ' ')).toMatch(/degraded .*1 down 1 degraded 1 healthy/);
    expect((await here.page.locator('[data-summary]').innerText()).replace(/\s+/g, ' ')).toBe(
      '1 down 1 degraded 1 unknown 1 healthy',
    );
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
    await go(page, '/services?sort=name');
    await row('Orders').waitFor();
    const id = await watched.add('Newcomer', watched.upstream.at('/new', WELL));
    await row('Newcomer').getByText('healthy').first().waitFor();
    await stage.asAdmin((api) => api.delete(`/api/services/${id}`));
    await row('Newcomer').waitFor({ state: 'detached' });
  });

  it('is narrowed and ordered by the server, and the address holds it', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.waitForSelector('[data-row]');
    await page.getByLabel('Team', { exact: true }).selectOption('Money');
    await expect.poll(names).toHaveLength(2);
    await page.getByRole('link', { name: 'Down', exact: true }).click();
    await expect.poll(async () => (await names()).join()).toContain('Ledger');
    await expect.poll(names).toHaveLength(1);
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await expect.poll(names).toHaveLength(2);
    const sort = page.getByRole('columnheader', { name: 'Service' });
    await sort.getByRole('button').click();
    await expect.poll(async () => (await names()).map((name) => name.trim())).toEqual(['Billing', 'Ledger']);
    expect(await sort.getAttribute('aria-sort')).toBe('ascending');
    await sort.getByRole('button').click();
    await expect.poll(async () => (await names()).map((name) => name.trim())).toEqual(['Ledger', 'Billing']);
    expect(address()).toBe('/services?team=Money&sort=-name');
    await page.reload();
    await expect.poll(names).toHaveLength(2);
    // All teams can be chosen, also those that are not shown.
    await expect.poll(() => page.getByLabel('Team', { exact: true }).locator('option').allInnerTexts()).toEqual([
      'Every team',
      'Money',
      'Shop',
    ]);
    await page.keyboard.press('/');
    await page.keyboard.type('no such thing');
    await page.getByText('No service matches.').waitFor();
  });

  it('goes on where a page ends', async () => {
    const { page } = here;
    await page.route(/\/api\/services\?/, (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.get('limit') === '200') url.searchParams.set('limit', '2');
      return route.continue({ url: url.href });
    });
    await go(page, '/services?sort=name');
    await page.locator('[data-count]').getByText('first 2 services').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(names).toHaveLength(4);
    expect((await names()).map((name) => name.trim())).toEqual(['Asleep', 'Billing', 'Ledger', 'Orders']);
    await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('is walked by keys, from the list to the page', async () => {
    const { page } = here;
    await go(page, '/');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
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

  it('offers nothing to change to who may only look', async () => {
    const viewer = await stage.newPerson('vic@example.com', 'viewer');
    const visit: Visit = await stage.visit({}, viewer);
    await go(visit.page, '/services');
    await visit.page.waitForSelector('[data-row]');
    expect(await visit.page.getByRole('link', { name: 'Add a service' }).count()).toBe(0);
    await go(visit.page, `/services/${ids['orders'] ?? ''}`);
    await visit.page.getByText('orders-db').waitFor();
    expect(await visit.page.getByRole('button', { name: /Poll now|Delete|Deactivate/ }).count()).toBe(0);
    await go(visit.page, '/services/new');
    await visit.page.getByText('changed by editors and admins').waitFor();
    await leave(visit);
  });

  it('stands on Now with what is not healthy', async () => {
    const { page } = here;
    await go(page, '/');
    await row('Ledger').getByText('down').waitFor();
    await row('Billing').getByText('of what it leans on, 1 down and 1 degraded').waitFor();
    expect(await row('Asleep').count()).toBe(0);
    await page.getByRole('link', { name: 'Ledger' }).click();
    await page.waitForURL(`**/services/${ids['ledger'] ?? ''}`);
  });
});
