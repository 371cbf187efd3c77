import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { killAgent, workerId } from './agents';
import { dialog, LONG_MS, openFleet, panel, row } from './fleet';
import { chord, go, look, lookAround, markLoad } from './harness';
import { visitEach } from './stage';

const stage = openFleet();
const here = visitEach(stage);

const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

describe('the fleet of the demo', { timeout: LONG_MS }, () => {
  it('stands by region with its nets, states and providers, in every size and theme', async () => {
    const { page } = here;
    await go(page, '/fleet');
    await page.getByRole('region', { name: 'fra' }).waitFor();
    const regions = page.getByRole('main').getByRole('region');
    expect(await regions.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual(['fra', 'iad', 'nrt', 'this host']);
    expect(await row(page, 'frankfurt-1').innerText()).toMatch(/ready[^]*money-fra[^]*shop-fra[^]*Fly, started/);
    expect(await row(page, 'tokyo-1').innerText()).toContain('Sprites, running');
    await lookAround(page, 'fleet');
    await page.locator('[data-row]', { hasText: 'frankfurt-1' }).click();
    await panel(page).getByText('Fly, which says started').waitFor();
    await lookAround(page, 'fleet-panel');
  });

  it('says on the page of a service how it is by location, and leads to the worker', async () => {
    const { page } = here;
    const id = await stage.asAdmin(async (api) => (await api.list<{ id: string }>('/api/services?q=Catalog'))[0]?.id ?? '');
    await go(page, `/services/${id}`);
    const places = page.getByRole('region', { name: 'By location', exact: true });
    await places.getByText('healthy from all 5 places').waitFor({ timeout: 30_000 });
    expect(await places.getByRole('row').nth(1).innerText()).toMatch(/here[^]*healthy[^]*the server itself/);
    await lookAround(page, 'service-locations');
    await places.getByRole('link', { name: 'tokyo-1' }).click();
    await panel(page).getByText('Sprites, which says running').waitFor();
  });

  it('shows a lost agent as an error with its nets unloaded, and brings it back, without a reload', async () => {
    const { page } = here;
    const id = await stage.asAdmin((api) => workerId(api, 'office'));
    await go(page, `/fleet?row=${id}&inspector=open`);
    await panel(page).getByText('loaded', { exact: true }).waitFor();
    const stayed = await markLoad(page);
    killAgent(id);
    await row(page, 'office').getByText('error', { exact: true }).waitFor({ timeout: 30_000 });
    await panel(page).getByText('unloaded', { exact: true }).waitFor();
    await panel(page).getByText('Why').waitFor();
    await page.getByText('1 worker, 1 in error').waitFor();
    await lookAround(page, 'fleet-error');

    await row(page, 'office').getByRole('button', { name: 'Retry office' }).click();
    await dialog(page, /another machine for office/).getByText('No net is loaded on it.').waitFor();
    await page.getByRole('button', { name: 'Make another machine' }).click();
    await row(page, 'office').getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
    await panel(page).getByRole('button', { name: 'Load shop-office' }).click();
    await panel(page).getByText('loaded', { exact: true }).waitFor({ timeout: 30_000 });
    expect(await stayed()).toBe(true);
  });

  it('names a lost worker on Now while it is lost, and leads to it', async () => {
    const { page } = here;
    const id = await stage.asAdmin((api) => workerId(api, 'office'));
    await go(page, '/');
    await page.getByText(/All \d+ services are healthy/).waitFor();
    const stayed = await markLoad(page);
    killAgent(id);
    const lost = page.getByRole('list', { name: 'Lost workers' }).getByRole('listitem');
    await lost.filter({ hasText: /Worker office \(this host\) is in error for \d+\s\w+: ./ }).waitFor({ timeout: 30_000 });
    // No service fails because of it.
    await expect.poll(() => page.getByRole('group', { name: 'Root causes' }).count()).toBe(0);
    await lookAround(page, 'now-lost');
    await lost.getByRole('link', { name: 'office' }).click();
    await panel(page).getByRole('button', { name: 'Retry office' }).click();
    await page.getByRole('button', { name: 'Make another machine' }).click();
    await row(page, 'office').getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Now' }).first().click();
    await lost.first().waitFor({ state: 'detached' });
    await panel(page).waitFor({ state: 'detached' });
    await stage.asAdmin(async (api) => {
      const [net] = (await api.list<{ id: string; name: string }>('/api/nets')).filter(({ name }) => name === 'shop-office');
      expect((await api.post(`/api/nets/${net?.id ?? ''}/load`, {})).ok()).toBe(true);
    });
    expect(await stayed()).toBe(true);
  });

  it('offers to load all nets of a worker that came back, and tells which it could not', async () => {
    const { page } = here;
    here.mayRefuse(502);
    const id = await stage.asAdmin((api) => workerId(api, 'frankfurt-1'));
    await go(page, `/fleet?row=${id}&inspector=open`);
    await panel(page).getByText('loaded', { exact: true }).nth(1).waitFor();
    await stage.asAdmin(async (api) => {
      expect((await api.post(`/api/workers/${id}/stop`, {})).ok()).toBe(true);
      expect((await api.post(`/api/workers/${id}/start`, {})).ok()).toBe(true);
    });
    const offer = row(page, 'frankfurt-1').getByRole('button', { name: 'Load its 2 nets: frankfurt-1' });
    await offer.waitFor({ timeout: 30_000 });
    await panel(page).getByRole('button', { name: 'Load its 2 nets: frankfurt-1' }).waitFor();
    await lookAround(page, 'fleet-idle');

    let refused = 0;
    await page.route('**/api/nets/*/load', (route) => {
      refused += 1;
      if (refused > 1) return route.continue();
      return route.fulfill({ status: 502, json: { error: 'Net could not be loaded', code: 'load_failed', detail: 'Its agent said no.' } });
    });
    await offer.click();
    await page.getByRole('alert').filter({ hasText: 'Its agent said no.' }).first().waitFor();
    await page.getByText('1 of 2 nets of frankfurt-1 are loaded').first().waitFor();
    await row(page, 'frankfurt-1').getByRole('button', { name: 'Load its net: frankfurt-1' }).click();
    await panel(page).getByText('loaded', { exact: true }).nth(1).waitFor();
    await page.getByRole('alert').filter({ hasText: 'Its agent said no.' }).waitFor({ state: 'detached' });
    await row(page, 'frankfurt-1').getByRole('button', { name: 'Stop frankfurt-1' }).waitFor();
  });

  it('refuses what was confirmed of another state, and says which it is now', async () => {
    const { page } = here;
    here.mayRefuse(412);
    const id = await stage.asAdmin((api) => workerId(api, 'frankfurt-1'));
    await go(page, '/fleet');
    await page.getByRole('button', { name: 'Stop frankfurt-1' }).click();
    await dialog(page, /Stop frankfurt-1/).getByText('2 nets are unloaded: ').waitFor();
    await lookAround(page, 'fleet-confirm');
    await stage.asAdmin((api) => api.post(`/api/workers/${id}/health-check`, {}));
    await page.getByRole('button', { name: 'Stop the worker' }).click();
    await page.getByRole('alert').getByText('It is ready now.').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await row(page, 'frankfurt-1').innerText()).toContain('ready');
  });

  it('is walked, acted on and left by keys alone', async () => {
    const { page } = here;
    await go(page, '/');
    await chord(page, 'gf');
    await page.waitForURL('**/fleet');
    await page.locator('[data-row]').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('virginia');
    await expect.poll(() => page.locator('[data-row]').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await panel(page).getByText('Fly, which says started').waitFor();
    expect(param(page, 'filter')).toBe('virginia');
    await page.getByRole('button', { name: 'Stop virginia-1' }).first().press('Enter');
    await dialog(page, /Stop virginia-1/).getByText('One net is unloaded: shop-iad.').waitFor();
    await page.getByRole('button', { name: 'Stop the worker' }).focus();
    await page.keyboard.press('Enter');
    await row(page, 'virginia-1').getByText('stopped', { exact: true }).waitFor({ timeout: 30_000 });
    await panel(page).getByText('unloaded', { exact: true }).waitFor();
    await row(page, 'virginia-1').getByRole('button', { name: 'Start virginia-1' }).press('Enter');
    await row(page, 'virginia-1').getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
    await panel(page).getByRole('button', { name: 'Load shop-iad' }).press('Enter');
    await panel(page).getByText('loaded', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('tokyo-1');
    await page.getByRole('option', { name: /tokyo-1/ }).first().waitFor();
    await page.keyboard.press('Enter');
    await panel(page).getByText('Sprites, which says running').waitFor();
  });

  it('is found by the palette, net by net, as journeys are', async () => {
    const { page } = here;
    await go(page, '/system');
    const lead = async (needle: string, option: RegExp) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(needle);
      await page.getByRole('option', { name: option }).first().waitFor();
      await look(page, `palette-${needle.replace(' ', '-')}`);
      await page.keyboard.press('Enter');
    };
    await lead('shop-nrt', /shop-nrt\s*net, loaded · tokyo-1/);
    await panel(page).getByRole('link', { name: 'tokyo-1' }).waitFor();
    await lead('buy some', /buy something\s*journey, \w+/i);
    await page.waitForURL('**/journeys/*');
  });

  it('makes a worker and its machine, and takes both away', async () => {
    const { page } = here;
    // Its panel is read until it is told that the worker is gone.
    here.mayRefuse(404);
    await go(page, '/fleet');
    await page.locator('[data-row]').first().waitFor();
    await page.keyboard.press('c');
    await page.getByLabel('Name', { exact: true }).fill('spare');
    await lookAround(page, 'worker-new');
    await page.getByRole('button', { name: 'Add and provision' }).click();
    await page.waitForURL('**/fleet?*');
    await row(page, 'spare').getByText('ready', { exact: true }).waitFor({ timeout: 30_000 });
    await panel(page).getByRole('button', { name: 'Delete spare' }).click();
    await page.getByRole('button', { name: 'Delete worker and machine' }).click();
    await row(page, 'spare').waitFor({ state: 'detached', timeout: 30_000 });
    await panel(page).getByText('It is gone, or was never there.').waitFor();
  });
});
