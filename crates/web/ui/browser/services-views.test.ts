import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { go, lookAround, type Visit } from './harness';
import { openOwnStage } from './stage';
import { ILL, WELL } from './upstream';
import { watch } from './watched';

const stage = openOwnStage();
const watched = watch(stage);
const ids: Record<string, string> = {};
let current: Visit | undefined;

beforeAll(async () => {
  current = await stage.visit();
});
afterAll(() => current?.page.context().close());

const SPRING = { root: 'components', fields: { name: '$key', healthy: 'status' } };

async function populate(): Promise<void> {
  const { upstream } = watched;
  const many = Array.from({ length: 12 }, (_, at) => ({ ...WELL[0], name: `shard-${String(at)}` }));
  ids['orders'] = await watched.add('Orders', upstream.at('/orders', WELL), {
    team: 'Shop',
    headers: { Authorization: 'Bearer x' },
  });
  await watched.add('Catalogue', upstream.at('/catalogue', many), { team: 'Shop' });
  await watched.add('Payments gateway with a name that is rather long for a table', upstream.at('/pay', ILL), {
    team: 'Money',
  });
  ids['spring'] = await watched.add('Ledger', upstream.at('/ledger', { components: { db: { status: 'UP' }, odd: {} } }), {
    format: 'schema',
    schema_config: SPRING,
    team: 'Money',
  });
  ids['down'] = await watched.add('Invoices', upstream.at('/invoices', 503), { team: 'Money' });
  await watched.add('Archive', upstream.at('/archive', []), { is_active: false });
  await watched.add('Reporting', upstream.at('/reporting', [{ ...WELL[0], name: 'ledger-api' }]));
  await stage.asAdmin((api) => api.post('/api/aliases', { alias: 'orders-db', canonical_name: 'Orders database' }));
  for (const answer of [ILL, WELL, ILL]) {
    upstream.at('/orders', answer);
    await watched.poll(ids['orders'] ?? '');
  }
}

const BEFORE: Record<string, (page: Page) => Promise<void>> = {
  'services-none': async (page) => {
    await go(page, '/services');
    await page.getByText('Nothing is watched yet.').waitFor();
  },
};

const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  services: (page) => openRows(page, '/services'),
  'services-inspector': async (page) => {
    await openRows(page, '/services');
    await page.locator('[data-row]').first().press('Enter');
    await page.waitForSelector('aside');
  },
  'services-no-match': async (page) => {
    await go(page, '/services?filter=nothing+like+that');
    await page.getByText('No service matches.').waitFor();
  },
  'now-wrong': async (page) => {
    await go(page, '/');
    await page.getByRole('article', { name: 'Invoices' }).waitFor();
  },
  service: async (page) => {
    await openRows(page, `/services/${ids['orders'] ?? ''}`);
    await page.getByText('No longer reported').waitFor();
  },
  'service-down': async (page) => {
    await go(page, `/services/${ids['down'] ?? ''}`);
    await page.getByText('The last poll failed').waitFor();
    await page.getByText('http_status').nth(1).waitFor();
  },
  'service-issues': (page) => openRows(page, `/services/${ids['spring'] ?? ''}`),
  'service-dependency': async (page) => {
    await openRows(page, `/services/${ids['orders'] ?? ''}`);
    await page.locator('[data-row]').filter({ hasText: 'payments' }).click();
    await page.getByRole('slider', { name: 'Latency over time' }).waitFor();
    await page.locator('aside').getByText('Recovered').first().waitFor();
  },
  'service-lanes': async (page) => {
    await openRows(page, `/services/${ids['orders'] ?? ''}`);
    const lanes = page.getByRole('slider', { name: 'Health over time' });
    await lanes.focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('As a table').click();
    await page.getByRole('columnheader', { name: 'Measured' }).waitFor();
  },
  aliases: async (page) => {
    await openRows(page, '/services/aliases');
    await page.getByText('Names without an alias').waitFor();
    await page.getByText('This may be the same').waitFor();
  },
  'aliases-inspector': async (page) => {
    await openRows(page, '/services/aliases');
    await page.locator('[data-row]').first().press('Enter');
    await page.waitForSelector('aside');
  },
  'service-delete': async (page) => {
    await openRows(page, `/services/${ids['orders'] ?? ''}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForSelector('dialog[open]');
  },
  'service-new': async (page) => {
    await go(page, '/services/new');
    await page.getByText('Give the endpoint first').waitFor();
  },
  'service-edit': async (page) => {
    await go(page, `/services/${ids['orders'] ?? ''}/edit`);
    await page.getByText('The headers are not sent here').waitFor();
    await page.getByRole('row').filter({ hasText: 'orders-db' }).waitFor();
  },
  'service-edit-mapping': async (page) => {
    await go(page, `/services/${ids['spring'] ?? ''}/edit`);
    await page.getByText('1 dependency').waitFor();
  },
  'service-new-wrong': async (page) => {
    await go(page, '/services/new');
    await page.getByRole('button', { name: 'Add the service' }).click();
    await page.getByText('Give it a name.').waitFor();
  },
};

async function openRows(page: Page, path: string): Promise<void> {
  await go(page, path);
  await page.waitForSelector('[data-row]');
}

async function see(name: string, open: (page: Page) => Promise<void>): Promise<void> {
  if (!current) throw new Error('a page opens before the first view');
  await open(current.page);
  await lookAround(current.page, name);
  expect(current.complaints.splice(0)).toEqual([]);
}

describe('the views of what is watched', () => {
  it.each(Object.entries(BEFORE))('%s is clean and accessible, and fits', see);

  describe('with services', () => {
    beforeAll(populate);
    it.each(Object.entries(VIEWS))('%s is clean and accessible, and fits', see);
  });
});
