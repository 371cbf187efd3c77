import { beforeAll, expect, it } from 'vitest';
import { go, leave } from './harness';
import { signInAgain } from './people';
import { openOwnStage, visitEach } from './stage';
import { WELL } from './upstream';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);
beforeAll(async () => {
  await watched.add('Orders', watched.upstream.at('/orders', WELL));
  await watched.add('Stock', watched.upstream.at('/stock', [WELL[0]]));
  await watched.add('Ledger', watched.upstream.at('/ledger', [{ ...WELL[0], name: 'pg-orders' }]));
  await watched.add('Reporting', watched.upstream.at('/reporting', [{ ...WELL[0], name: 'ledger-api' }]));
});

const open = () => go(here.page, '/services/aliases');
const row = (name: string) => here.page.getByRole('row').filter({ hasText: name });

it('gives a reported name another one, and tells what that changed', async () => {
  const { page } = here;
  await go(page, '/services');
  await page.getByRole('link', { name: 'Aliases' }).first().click();
  await page.getByRole('button', { name: 'Give orders-db another name' }).click();
  const form = page.getByRole('form', { name: 'New alias' });
  expect(await form.getByLabel('Reported as').inputValue()).toBe('orders-db');
  await form.getByLabel('Goes by').fill('Orders database');
  await page.keyboard.press('Enter');
  await page.getByText('2 dependencies now go by Orders database').first().waitFor();
  await row('orders-db').getByText('Orders database').waitFor();
  await page.getByRole('button', { name: 'Give orders-db another name' }).waitFor({ state: 'detached' });
});

it('refuses a second alias of the same name, and keeps what was typed', async () => {
  const { page, mayRefuse } = here;
  mayRefuse(409);
  await open();
  const form = page.getByRole('form', { name: 'New alias' });
  await form.getByRole('button', { name: 'Create alias' }).click();
  await form.getByText('Which name do services report?').waitFor();
  await form.getByLabel('Reported as').fill('orders-db');
  await form.getByLabel('Goes by').fill('Something else');
  await form.getByRole('button', { name: 'Create alias' }).click();
  await page.getByRole('alert').getByText('The alias exists already').waitFor();
  expect(await form.getByLabel('Goes by').inputValue()).toBe('Something else');
});

it('changes and deletes one beside the list', async () => {
  const { page } = here;
  await open();
  await page.getByRole('button', { name: 'Change the alias orders-db' }).click();
  const form = page.locator('aside').getByRole('form', { name: 'Change the alias' });
  await form.getByLabel('Goes by').fill('Orders');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('2 dependencies now go by Orders').first().waitFor();
  await page.locator('aside').getByRole('button', { name: 'Delete the alias orders-db' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the alias' }).click();
  await page.getByText('orders-db goes by its own name again').first().waitFor();
  await page.getByText('No name has an alias yet').waitFor();
});

it('asks whether two are the same, and hears no', async () => {
  const { page } = here;
  await open();
  await page.getByRole('button', { name: 'ledger-api is not Ledger' }).click();
  await page.getByText('it is not suggested again').first().waitFor();
  await page.getByRole('button', { name: 'ledger-api is not Ledger' }).waitFor({ state: 'detached' });
});

it('is read by viewers, who change nothing', async () => {
  const viewer = await stage.visit({}, await stage.newPerson('vera@example.com', 'viewer'));
  await go(viewer.page, '/services/aliases');
  await viewer.page.getByText('Names without an alias').waitFor();
  expect(await viewer.page.getByRole('form').count()).toBe(0);
  expect(await viewer.page.getByRole('button', { name: /another name/ }).count()).toBe(0);
  await leave(viewer);
});

it('loses nothing that was typed when the session ends', async () => {
  const ended = await stage.newPerson('eddie@example.com', 'editor');
  const visit = await stage.visit({}, ended);
  visit.mayRefuse(401);
  const { page } = visit;
  await go(page, '/services/aliases');
  const form = page.getByRole('form', { name: 'New alias' });
  await form.getByLabel('Reported as').fill('pg-orders');
  await form.getByLabel('Goes by').fill('Orders database');
  await page.context().clearCookies();
  // Another read may have been told before, and the dialog stands in front of it.
  await form.getByRole('button', { name: 'Create alias' }).dispatchEvent('click');
  await signInAgain(page);
  expect(await form.getByLabel('Goes by').inputValue()).toBe('Orders database');
  await form.getByRole('button', { name: 'Create alias' }).click();
  await page.getByText('1 dependency now goes by Orders database').first().waitFor();
  await leave(visit);
});
