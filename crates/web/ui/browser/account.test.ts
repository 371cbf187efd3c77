import { beforeAll, expect, it } from 'vitest';
import { go, leave, look } from './harness';
import { PASSWORD, signIn, withApi, type Signed } from './people';
import { openStage, visitEach } from './stage';

const stage = openStage();

/** Not the admin, whose password and sessions other files need. */
const EMAIL = 'olga@example.com';
let olga: Signed;
beforeAll(async () => {
  olga = await stage.newPerson(EMAIL, 'viewer');
});
const here = visitEach(stage, () => olga);
const signInAgain = () => signIn(stage.origin, EMAIL);

it('creates a token, shows it once, and revokes it', async () => {
  const { page } = here;
  await go(page, '/account');
  await page.getByText('You have no tokens.').waitFor();
  await page.keyboard.press('c');
  await page.keyboard.type('deploy');
  await page.getByLabel('Scope').selectOption('write');
  await page.getByLabel('Expires after').selectOption('30');
  await page.getByRole('button', { name: 'Create token' }).click();
  const secret = page.locator('[data-copy="token"]');
  await secret.waitFor();
  const token = await secret.innerText();
  expect(token).toMatch(/^mst_[\w-]{43}$/);
  await look(page, 'account-token');
  await page.getByRole('cell', { name: 'in 30' }).waitFor();

  const bearer = { headers: { Authorization: `Bearer ${token}` } };
  const asked = () =>
    withApi(stage.origin, undefined, (_api, context) =>
      context.get(`${stage.origin}/api/system`, bearer),
    );
  expect((await asked()).status()).toBe(200);

  await page.getByRole('button', { name: 'Done, I have it' }).click();
  await page.reload();
  await page.getByRole('rowheader', { name: 'deploy' }).waitFor();
  expect(await page.content()).not.toContain(token);

  await page.getByRole('button', { name: 'Revoke the token deploy' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the token' }).click();
  await page.getByText('You have no tokens.').waitFor();
  expect((await asked()).status()).toBe(401);
});

it('asks for a name before it creates a token', async () => {
  const { page } = here;
  await go(page, '/account');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByText('A name says later what it is for.').waitFor();
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name');
});

it('ends another session, which is signed out at once when it is looked at', async () => {
  const other = await stage.visit({}, await signInAgain());
  other.mayRefuse(401);
  await go(other.page, '/system?filter=data');
  const { page } = here;
  await go(page, '/account');
  await page.getByRole('button', { name: /^End the session of/ }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the session' }).click();
  await page.waitForSelector('dialog', { state: 'detached' });

  await other.page.evaluate(() => dispatchEvent(new Event('focus')));
  await other.page.waitForURL(`${stage.origin}/login?next=%2Fsystem%3Ffilter%3Ddata`);
  await other.page.waitForSelector('form');
  await leave(other);
});

it('ends all other sessions and stays signed in', async () => {
  await signInAgain();
  await signInAgain();
  const { page } = here;
  await go(page, '/account');
  await page.getByRole('button', { name: 'End all others' }).click();
  await page.getByRole('dialog').getByText('You stay signed in here').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click();
  await page.waitForSelector('dialog', { state: 'detached' });
  await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' });
  expect(await page.getByText('this one').count()).toBe(1);
  await page.reload();
  await page.getByText('this one').waitFor();
});

it('puts a question away by Escape, and nothing is done', async () => {
  await signInAgain();
  const { page } = here;
  await go(page, '/account');
  const end = page.getByRole('button', { name: /^End the session of/ }).first();
  await end.focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open]');
  // The safe answer has the focus: a key that is held down does no harm.
  expect(await page.evaluate(() => document.activeElement?.textContent.trim())).toBe('Cancel');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  expect(await end.evaluate((button) => button === document.activeElement)).toBe(true);
});

it('signs out by the palette, and back leads nowhere', async () => {
  const own = await stage.visit({}, await signInAgain());
  own.mayRefuse(401);
  const { page } = own;
  await go(page, '/account');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('sign out');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stage.origin}/login`);
  await page.waitForSelector('form');
  await page.goBack();
  await page.waitForURL(/\/login/);
  await page.waitForSelector('form');
  await leave(own);
});

it('changes the password, which ends the other sessions', async () => {
  const other = await stage.visit({}, await signInAgain());
  const { page, mayRefuse } = here;
  mayRefuse(401);
  await go(page, '/account');
  const now = page.getByLabel('Password now');
  const fresh = page.getByLabel('New password');
  await now.fill('not the password');
  await fresh.fill('another staple of the harbour');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(new URL(page.url()).pathname).toBe('/account');

  await now.fill(PASSWORD);
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Password changed').first().waitFor();
  expect(await fresh.inputValue()).toBe('');

  await other.page.goto('/');
  await other.page.waitForURL(`${stage.origin}/login?next=%2F`);
  await leave(other);
});
