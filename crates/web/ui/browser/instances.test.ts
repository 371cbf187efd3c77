import { expect, it } from 'vitest';
import { expectAccessible, expectNoOverflow, go } from './harness';
import { openStage, visitEach } from './stage';

const stage = openStage();
const here = visitEach(stage);

const NOW = '2026-11-16T12:00:00.000Z';

function instance(name: string, more: object): object {
  return {
    id: `0193a7c1-8f0e-7c3a-9a55-${name.padEnd(12, '0').replace(/[^\da-f]/g, 'a')}`,
    name,
    version: '0.1.0',
    state: 'alive',
    is_this: false,
    started_at: NOW,
    renewed_at: NOW,
    lease_age_ms: 1_250,
    shards: Array.from({ length: 32 }, (_, shard) => shard),
    services: 100,
    lag_ms: 0,
    gone_at: null,
    ...more,
  };
}

const row = (name: string) => here.page.getByRole('row').filter({ hasText: name });

it('shows the one instance that really runs, and everything as its own', async () => {
  const { page } = here;
  await go(page, '/system');
  await page.getByRole('link', { name: 'Instances' }).click();
  await page.waitForURL('**/system/instances');
  await row('this one').waitFor();
  // Who could not renew its lease for a moment, as on a busy machine, is late until it has.
  await expect.poll(() => row('this one').innerText()).toMatch(/alive\s+64/);
  expect(await page.locator('[data-count]').innerText()).toBe('1 instance');
  expect(await page.getByRole('status').getByText('Nobody polls').count()).toBe(0);
  await expectAccessible(page, 'instances');
});

it('tells who is lost, who is late, and what nobody polls', async () => {
  const { page } = here;
  await page.route('**/api/instances', (route) =>
    route.fulfill({
      json: {
        shards: 64,
        shards_unowned: 32,
        items: [
          instance('first', { is_this: true }),
          instance('second', { state: 'late', lease_age_ms: 11_000 }),
          instance('third', { state: 'lost', shards: [], services: 0, gone_at: NOW }),
        ],
      },
    }),
  );
  await go(page, '/system/instances');
  await page.getByText('Nobody polls 32 of 64 shards now.').waitFor();
  expect(await row('second').innerText()).toMatch(/late\s+32\s+100\s+11.s/);
  expect(await row('third').innerText()).toMatch(/lost\s+0/);
  await page.locator('[data-filter]').fill('sec');
  await expect.poll(() => page.locator('[data-count]').innerText()).toBe('1 of 3 instances');
  await expectNoOverflow(page, 'instances');
  await page.unroute('**/api/instances');
});
