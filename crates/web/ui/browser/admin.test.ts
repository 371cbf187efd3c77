import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { chord, go, leave, look, stopClock } from './harness';
import { ADMIN, invite, PASSWORD } from './people';
import { openOwnStage, visitEach } from './stage';

const stage = openOwnStage();
const here = visitEach(stage);

/** Takes the link that is shown once. */
async function shownLink(page: Page): Promise<string> {
  const link = page.locator('[data-copy="link"]');
  await link.waitFor();
  return link.innerText();
}

/** Opens an invite in another browser and sets the password. */
async function comeIn(link: string): Promise<{ page: Page; done: () => Promise<void> }> {
  const visit = await stage.visitOutside();
  const { page } = visit;
  await page.goto(link);
  await page.waitForSelector('form');
  expect(page.url()).toBe(`${stage.origin}/invite`);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stage.origin}/`);
  await page.waitForSelector('[data-light="live"]');
  return { page, done: () => leave(visit) };
}

it('invites somebody, who comes in as a viewer and finds the admin pages closed', async () => {
  const { page } = here;
  await go(page, '/admin/invites');
  await page.getByText('Nobody was invited yet.').waitFor();
  await page.keyboard.press('c');
  await page.keyboard.type('viv@example.com');
  await page.keyboard.press('Enter');
  const link = await shownLink(page);
  expect(link).toContain('/invite#');
  await look(page, 'invites-link');
  await page.reload();
  await page.waitForSelector('[data-row]');
  expect(await page.content()).not.toContain(link.split('#')[1]);

  const viv = await comeIn(link);
  await viv.page.getByRole('link', { name: 'System' }).waitFor();
  expect(await viv.page.getByRole('link', { name: 'Admin' }).count()).toBe(0);
  await viv.page.keyboard.press('Control+k');
  await viv.page.keyboard.type('audit');
  expect(await viv.page.getByRole('option', { name: 'Go to Audit log' }).count()).toBe(0);
  await viv.page.keyboard.press('Escape');
  await go(viv.page, '/admin/users');
  await viv.page.getByRole('heading', { name: 'This page is for admins.' }).waitFor();
  await look(viv.page, 'for-admins');
  await viv.done();

  const again = await stage.visitOutside();
  again.mayRefuse(400);
  await again.page.goto(link);
  await again.page.getByRole('heading', { name: 'This invite cannot be used' }).waitFor();
  await look(again.page, 'invite-bad');
  await leave(again);
});

it('says in words that somebody has an account already', async () => {
  const { page, mayRefuse } = here;
  mayRefuse(409);
  await go(page, '/admin/invites');
  await page.locator('[data-create]').first().waitFor();
  await page.keyboard.press('c');
  await page.keyboard.type(ADMIN.email);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toMatch(/account/i);
});

it('revokes an invite, whose link then says so', async () => {
  const link = await stage.asAdmin((api) => invite(api, 'rex@example.com', 'editor'));
  const { page } = here;
  await go(page, '/admin/invites?filter=rex');
  await page.getByRole('button', { name: 'Revoke the invite for rex@example.com' }).click();
  await page.getByRole('dialog').getByText('The link stops working at once').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the invite' }).click();
  await page.getByRole('cell', { name: 'revoked' }).waitFor();

  const rex = await stage.visitOutside();
  rex.mayRefuse(400);
  await rex.page.goto(link);
  await rex.page.getByRole('heading', { name: 'This invite cannot be used' }).waitFor();
  await leave(rex);
});

it('goes from a request for access to its approval and the first sign-in', async () => {
  const asks = await stage.visitOutside();
  await asks.page.goto('/login');
  await asks.page.getByRole('link', { name: 'Request access' }).click();
  await asks.page.getByLabel('E-mail').fill('kim@acme.example');
  await asks.page.getByLabel('Name').fill('Kim Berg');
  await asks.page.getByLabel('What do you need it for?').fill('The billing services.');
  await asks.page.getByRole('button', { name: 'Request access' }).click();
  await asks.page.getByRole('heading', { name: 'Received' }).waitFor();
  await look(asks.page, 'request-received');

  const { page } = here;
  await go(page, '/admin/access-requests');
  await page.getByRole('link', { name: 'New' }).click();
  await page.waitForURL('**/admin/access-requests?status=new');
  await page.getByRole('button', { name: 'Mark kim@acme.example as contacted' }).click();
  await page.getByText('No request is new now.').waitFor();
  await page.getByRole('link', { name: 'Contacted' }).click();
  await page.getByRole('button', { name: 'kim@acme.example', exact: true }).click();
  await page.locator('aside').getByText('The billing services.').waitFor();
  await page.locator('aside').getByRole('button', { name: 'Approve the request' }).click();
  await page.getByRole('dialog').getByLabel('Role').selectOption('editor');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and invite' }).click();
  const link = await shownLink(page);
  await look(page, 'requests-link');

  const kim = await comeIn(link);
  await go(kim.page, '/account');
  expect(await kim.page.locator('[data-me]').innerText()).toBe('kim@acme.example');
  await kim.page.getByText('editor').waitFor();
  await kim.done();

  await page.getByRole('link', { name: 'Approved' }).click();
  await page.waitForSelector('[data-row]');
  expect(await page.locator('[data-row]').allInnerTexts()).toEqual(['kim@acme.example']);
  await leave(asks);
});

it('answers a machine as it answers a person, and keeps nothing of it', async () => {
  const machine = await stage.visitOutside();
  const { page } = machine;
  await page.goto('/request-access');
  const trap = page.locator('input[name="website"]');
  expect(await trap.getAttribute('tabindex')).toBe('-1');
  expect(await trap.evaluate((input) => input.closest('[aria-hidden="true"]') !== null)).toBe(true);
  expect(await trap.evaluate((input) => input.getBoundingClientRect().right)).toBeLessThan(0);
  await page.getByLabel('E-mail').fill('bot@spam.example');
  await trap.evaluate((input: HTMLInputElement) => {
    input.value = 'https://spam.example';
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await page.getByRole('button', { name: 'Request access' }).click();
  await page.getByRole('heading', { name: 'Received' }).waitFor();
  await leave(machine);

  const kept = await stage.asAdmin((api) => api.list<{ email: string }>('/api/admin/access-requests'));
  expect(kept.map(({ email }) => email)).not.toContain('bot@spam.example');
});

it('holds back a form that was filled in at once, so that a person is not lost', async () => {
  const quick = await stage.visitOutside();
  await quick.page.goto('/request-access');
  await quick.page.getByLabel('E-mail').fill('quick@acme.example');
  await quick.page.keyboard.press('Enter');
  await quick.page.getByRole('heading', { name: 'Received' }).waitFor();
  await leave(quick);
  const kept = await stage.asAdmin((api) => api.list<{ email: string }>('/api/admin/access-requests'));
  expect(kept.map(({ email }) => email)).toContain('quick@acme.example');
});

it('changes a role, but not the last admin’s', async () => {
  await stage.newPerson('tess@example.com', 'viewer');
  const { page, mayRefuse } = here;
  mayRefuse(409);
  await go(page, '/admin/users');
  const role = page.getByLabel('Role of tess@example.com');
  await role.selectOption('editor');
  await page.getByText('tess@example.com is now an editor').first().waitFor();
  expect(await role.inputValue()).toBe('editor');

  const own = page.getByLabel(`Role of ${ADMIN.email}`);
  await own.selectOption('viewer');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('You lose the admin pages').waitFor();
  await dialog.getByRole('button', { name: 'Make a viewer' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await dialog.getByRole('alert').innerText()).toMatch(/last active admin/i);
  await look(page, 'users-last-admin');
  await page.keyboard.press('Escape');
  expect(await own.inputValue()).toBe('admin');
});

it('disables somebody, who is signed out and told why at the door', async () => {
  const max = await stage.visit({}, await stage.newPerson('max@example.com', 'viewer'));
  max.mayRefuse(401);
  max.mayRefuse(403);
  await go(max.page, '/system');
  const { page } = here;
  await go(page, '/admin/users');
  await page.getByRole('button', { name: 'Disable max@example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable the account' }).click();
  await page.getByRole('button', { name: 'Enable max@example.com' }).waitFor();

  // The stream of events tells it: nobody has to look at the page first.
  await max.page.waitForURL(/\/login/);
  await max.page.getByLabel('E-mail').fill('max@example.com');
  await max.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await max.page.keyboard.press('Enter');
  await max.page.getByRole('alert').waitFor();
  expect(await max.page.getByRole('alert').innerText()).toMatch(/disabled/i);

  await page.getByRole('button', { name: 'Enable max@example.com' }).click();
  await page.getByRole('button', { name: 'Disable max@example.com' }).waitFor();
  await max.page.keyboard.press('Enter');
  await max.page.waitForURL(`${stage.origin}/system`);
  await max.page.waitForSelector('[data-light="live"]');
  await leave(max);
});

it('closes the admin pages to an admin who is no longer one', async () => {
  const lou = await stage.visit({}, await stage.newPerson('lou@example.com', 'admin'));
  lou.mayRefuse(403);
  await go(lou.page, '/admin/users');
  await lou.page.waitForSelector('[data-row]');
  await stage.asAdmin(async (api) => {
    const users = await api.list<{ id: string; email: string }>('/api/admin/users');
    const id = users.find(({ email }) => email === 'lou@example.com')?.id ?? '';
    expect((await api.patch(`/api/admin/users/${id}`, { role: 'viewer' })).status()).toBe(200);
  });
  await lou.page.evaluate(() => dispatchEvent(new Event('focus')));
  await lou.page.getByRole('heading', { name: 'This page is for admins.' }).waitFor();
  await leave(lou);
});

it('tells who did what, narrowed by the address and by a click', async () => {
  const { page } = here;
  await go(page, '/admin/audit');
  await page.waitForSelector('[data-row]');
  await page.keyboard.press('/');
  await page.keyboard.type('invite.create');
  await page.waitForURL('**/admin/audit?action=invite.create');
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('[data-row]')].map((row) => row.textContent.trim());
    return rows.length > 0 && rows.every((text) => text === 'invite.create');
  });
  await page.locator('[data-row]').first().press('Enter');
  await page.locator('aside').getByRole('link', { name: ADMIN.email }).click();
  await page.waitForURL(`**/admin/audit?actor=${encodeURIComponent(ADMIN.email)}`);
  await page.waitForSelector('[data-row]');
  expect(await page.getByLabel('Only this actor’s e-mail').inputValue()).toBe(ADMIN.email);
});

it('reads a list at first, every 15 seconds and on return, and no more', async () => {
  const { page } = here;
  let reads = 0;
  page.on('request', (request) => (reads += Number(request.url().includes('/api/admin/users'))));
  await stopClock(page);
  await go(page, '/admin/users');
  await page.waitForSelector('[data-row]');
  expect(reads).toBe(1);
  await page.clock.runFor(14_000);
  expect(reads).toBe(1);
  const due = page.waitForResponse('**/api/admin/users?*');
  await page.clock.runFor(1_500);
  await (await due).finished();
  expect(reads).toBe(2);
  // A return while a read is under way starts no other, so it is told until it counts.
  const back = () => page.evaluate(() => dispatchEvent(new Event('focus'))).then(() => reads);
  await expect.poll(back).toBeGreaterThan(2);
});

it('walks the rows of a list by brackets, and opens one beside it', async () => {
  const { page } = here;
  await go(page, '/admin/users');
  await page.waitForSelector('[data-row]');
  await page.keyboard.press(']');
  await page.keyboard.press('Enter');
  await page.waitForSelector('aside');
  const first = await page.locator('aside h2').innerText();
  await page.keyboard.press(']');
  expect(await page.locator('aside h2').innerText()).not.toBe(first);
  await page.reload();
  await page.waitForSelector('aside');
  await chord(page, 'ga');
  await page.waitForURL('**/account');
});
