import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, go, look, pauseClock, untilShown } from './harness';
import { openOwnStage, visitEach } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);

const SOON_MS = 2_000;
const SCRIPT = '<img src=x onerror="document.title=1"> refused';
const well = (name: string) => [{ name, type: 'database', healthy: true }];
const ill = (name: string) => [
  {
    name,
    type: 'database',
    healthy: false,
    errorMessage: SCRIPT,
    impact: 'Nobody can pay',
    contact: { slack: '#pay' },
  },
];
const card = (name: string) => here.page.getByRole('article', { name });

describe('before anything is watched', () => {
  it('Now gives the commands to paste', async () => {
    await go(here.page, '/');
    await here.page.getByRole('heading', { name: /^Nothing is watched yet/ }).waitFor();
    const commands = await here.page.locator('[data-copy="command"]').allInnerTexts();
    expect(commands.join('\n')).toContain('/api/services');
    expect(commands.join('\n')).toContain('mainstay demo');
  });

  it('the wall does so too, and calls nothing well', async () => {
    await go(here.page, '/?board');
    await here.page.getByRole('heading', { name: /^Nothing is watched yet/ }).waitFor();
    await here.page.getByText('Nothing watched yet', { exact: true }).waitFor();
    expect(await here.page.locator('[data-copy="command"]').first().innerText()).toContain('/api/services');
    expect(await here.page.getByText('No root cause').count()).toBe(0);
  });
});

describe('an incident', () => {
  let ledger = '';
  beforeAll(async () => {
    ledger = await watched.add('Ledger', watched.upstream.at('/ledger', well('vault')));
    await watched.add('Shop', watched.upstream.at('/shop', well('ledger')));
  });

  it('appears without a reload, with why, whom it hurts and whom to ask', async () => {
    const { page } = here;
    await page.clock.install();
    await go(page, '/');
    await page.getByText('All 2 services are healthy.').waitFor();
    await pauseClock(page);
    watched.upstream.at('/ledger', ill('vault'));
    await watched.poll(ledger);
    expect(await untilShown(card('vault'), SOON_MS)).toBeLessThan(SOON_MS);
    await page.clock.resume();
    const text = (await card('vault').innerText()).replace(/\s+/g, ' ');
    for (const part of ['external', 'down', SCRIPT, 'Nobody can pay', 'slack #pay', '1 service hurt', 'Ledger', '1 more leans on it']) {
      expect(text).toContain(part);
    }
    expect(await card('vault').locator('img').count()).toBe(0);
    // Who is well is there, and does not stand in the way.
    const shop = card('vault').getByRole('link', { name: /Shop$/ });
    expect(await shop.isVisible()).toBe(false);
    await card('vault').getByText('1 more leans on it').click();
    expect(await shop.isVisible()).toBe(true);
    // It is read by itself, and may come after the card.
    await expect.poll(async () => (await page.locator('[data-summary]').innerText()).replace(/\s+/g, ' ')).toContain('1 root cause');
    await page.getByText('because of it: Ledger').waitFor();
    await look(page, 'now-incident');
  });

  it('is polled from its card, and walked to by keys', async () => {
    const { page } = here;
    await go(page, '/');
    await card('vault').getByRole('button', { name: 'Poll vault now' }).click();
    await card('vault').getByText('1 of 1 service answered; nothing changed.').waitFor();
    await page.locator('#main').focus();
    await page.keyboard.press(']');
    await page.waitForURL('**/?row=external%3Avault');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/graph/thing?node=external%3Avault');
    const main = page.getByRole('main');
    for (const part of [SCRIPT, 'says Ledger', 'Nobody can pay', '#pay', 'hurts 1 of 2 services']) {
      await main.getByText(part).first().waitFor();
    }
    await main.getByRole('row').filter({ hasText: 'Ledger' }).getByRole('link').click();
    await page.waitForURL(`**/services/${ledger}?row=*&inspector=open`);
  });

  it('stands in the activity, which can be narrowed', async () => {
    const { page } = here;
    await go(page, '/activity');
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await page.getByText('vault of Ledger').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('shop');
    await page.getByText('vault of Ledger').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?filter=shop');
    await go(page, '/activity?status=down&kind=dependency');
    await page.getByText('vault of Ledger').first().waitFor();
    await look(page, 'activity-narrowed');
  });

  it('stays as it is in the activity while nothing happens', async () => {
    const { page } = here;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/activity') asked.push(request.url());
    });
    await go(page, '/activity');
    await page.getByText('vault of Ledger').first().waitFor();
    const before = asked.length;
    await page.waitForTimeout(2_000);
    expect(asked.length - before).toBeLessThanOrEqual(2);
  });

  it('stands on the wall, which fills the screen until Escape', async () => {
    const { page } = here;
    await go(page, '/?board');
    const tiles = page.getByRole('list', { name: /^Services and what they lean on/ }).getByRole('listitem');
    await tiles.first().waitFor();
    expect(await tiles.first().innerText()).toContain('vault');
    await tiles.first().getByText('root cause, hurts 1 of 2 services').waitFor();
    await tiles.filter({ hasText: 'Ledger' }).getByText('because of vault').waitFor();
    const widths = await tiles.evaluateAll((all) => all.map((tile) => tile.clientWidth));
    expect(widths[0]).toBeGreaterThan(widths[1] ?? 0);
    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    await expectAccessible(page, 'wallboard');
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  it('is found by the palette, and made one with another by an alias', async () => {
    const { page } = here;
    await go(page, '/');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('vault');
    await page.getByRole('option').filter({ hasText: 'leans on it' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/graph/thing?node=external%3Avault');
    await page.getByRole('button', { name: 'Same thing as another? Make an alias' }).click();
    await page.getByLabel('It is the same as').fill('Books');
    await page.getByRole('button', { name: 'Make an alias', exact: true }).click();
    await page.waitForURL('**/graph/thing?node=external%3Abooks');
    await page.getByRole('heading', { name: 'Books' }).waitFor();
    await page.getByRole('main').getByText('Reported as').first().waitFor();
    // Once the alias is gone, nothing goes by its name.
    here.mayRefuse(404);
    await stage.asAdmin(async (api) => {
      const [alias] = await api.list<{ id: string }>('/api/aliases');
      await api.delete(`/api/aliases/${alias?.id ?? ''}`);
    });
    await page.getByRole('heading', { name: 'Nothing in the graph goes by this name.' }).waitFor();
  });

  it('goes away by itself', async () => {
    const { page } = here;
    await go(page, '/');
    await card('vault').waitFor();
    watched.upstream.at('/ledger', well('vault'));
    await watched.poll(ledger);
    await page.getByText('All 2 services are healthy.').waitFor();
  });

  it('is called unstable while it fails again and again', async () => {
    const { page } = here;
    await go(page, '/');
    for (const says of [ill, well, ill, well, ill]) {
      watched.upstream.at('/ledger', says('vault'));
      await watched.poll(ledger);
    }
    await card('vault').getByText(/It failed \d times in the last hour\./).waitFor();
    await look(page, 'now-unstable');
    watched.upstream.at('/ledger', well('vault'));
    await watched.poll(ledger);
    await page.getByText('All 2 services are healthy.').waitFor();
  });
});
