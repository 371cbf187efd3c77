import { describe, expect, it } from 'vitest';
import { go, leave, lookAround } from './harness';
import { ADMIN } from './people';
import { openOwnStage } from './stage';

const stage = openOwnStage({ account: false });

const field = { email: 'E-mail', password: 'Password' };

it('says before there is an account how to make one', async () => {
  const visit = await stage.visitOutside();
  const { page } = visit;
  // Without a session every page leads to where one signs in.
  await page.goto('/system?filter=data');
  await page.getByRole('heading', { name: 'Make the first account' }).waitFor();
  expect(page.url()).toBe(`${stage.origin}/login?next=%2Fsystem%3Ffilter%3Ddata`);
  await page.getByText('mainstay admin create --email').waitFor();
  await lookAround(page, 'first-run');

  await page.goto('/setup');
  await page.getByRole('heading', { name: 'The link is not whole' }).waitFor();
  await lookAround(page, 'setup-missing');
  await leave(visit);
});

it('says so also when that could not be read at first', async () => {
  const { page } = await stage.visitOutside();
  await page.route('**/api/auth/setup', (route) => route.abort());
  await page.goto('/login');
  await page.waitForSelector('form');
  await page.unroute('**/api/auth/setup');
  await page.getByRole('heading', { name: 'Make the first account' }).waitFor();
  await page.context().close();
});

describe('from the first start on', () => {
  it('does not take a link that is not the one of the log', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    visit.mayRefuse(400);
    await page.goto(`/setup#${'A'.repeat(43)}`);
    await page.getByLabel(field.email).fill(ADMIN.email);
    await page.getByLabel(field.password, { exact: true }).fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await leave(visit);
  });

  it('goes by the link of the log to the first account, out and in again', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    visit.mayRefuse(401);
    await page.goto(await stage.own.setupLink());
    await page.waitForSelector('form');
    expect(page.url()).toBe(`${stage.origin}/setup`);
    await lookAround(page, 'setup');

    await page.getByLabel(field.email).fill(ADMIN.email);
    const password = page.getByLabel(field.password, { exact: true });
    await password.fill('too short');
    await page.getByText('9 so far').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('At least 12 characters are needed.').waitFor();
    await password.fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stage.origin}/`);
    await page.waitForSelector('[data-light="live"]');

    await go(page, '/account');
    expect(await page.locator('[data-me]').innerText()).toBe(ADMIN.email);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${stage.origin}/login`);
    await page.waitForSelector('form');

    await page.getByLabel(field.email).fill(ADMIN.email);
    await password.fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    // The wrong one is selected, so that typing replaces it.
    await page.keyboard.type(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stage.origin}/`);
    await page.waitForSelector('[data-light="live"]');
    await leave(visit);
  });

  it('takes the link only once', async () => {
    const visit = await stage.visitOutside();
    await visit.page.goto('/setup#used');
    await visit.page.getByText('is there already').waitFor();
    await visit.page.getByRole('link', { name: 'Sign in' }).click();
    await visit.page.waitForSelector('input[type="password"]');
    await leave(visit);
  });
});

describe('signing in', () => {
  it('leads back to where one was, without a mouse', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    await page.goto('/system?filter=data');
    await page.waitForSelector('form');
    await page.keyboard.type(ADMIN.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(ADMIN.password);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await page.getByLabel(field.password, { exact: true }).getAttribute('type')).toBe('text');
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stage.origin}/system?filter=data`);
    await page.waitForSelector('[data-row="database"]');

    // Who has a session has no use for the page to sign in.
    await page.goto('/login?next=%2Faccount');
    await page.waitForURL(`${stage.origin}/account`);
    await page.waitForSelector('[data-light="live"]');
    await leave(visit);
  });

  it('never leads to another site', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    await page.goto('/login?next=//evil.example/');
    await page.getByLabel(field.email).fill(ADMIN.email);
    await page.getByLabel(field.password, { exact: true }).fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${stage.origin}/`);
    await page.waitForSelector('[data-light="live"]');
    await leave(visit);
  });

  it('has fields that a password manager knows', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    await page.goto('/login');
    await page.waitForSelector('form');
    const names = await page
      .locator('form input:not([type="hidden"])')
      .evaluateAll((inputs) => inputs.map((input) => input.getAttribute('autocomplete')));
    expect(names).toEqual(['username', 'current-password']);
    await leave(visit);
  });

  it('says a refusal also when the form was posted without a script', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    await page.goto('/login?next=%2Fsystem');
    await page.getByLabel(field.email).fill(ADMIN.email);
    await page.getByLabel(field.password, { exact: true }).fill('not the password');
    await page.evaluate(() => {
      document.querySelector('form')?.submit();
    });
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('is wrong');
    expect(page.url()).toBe(`${stage.origin}/login?next=%2Fsystem`);
    await leave(visit);
  });

  it('counts down when it was tried too often', async () => {
    const visit = await stage.visitOutside();
    const { page } = visit;
    await page.goto('/login');
    visit.mayRefuse(401);
    visit.mayRefuse(429);
    await page.getByLabel(field.email).fill('nobody@example.com');
    const password = page.getByLabel(field.password, { exact: true });
    const ATTEMPTS = 30;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await password.fill(`guess number ${String(attempt)}`);
      const answered = page.waitForResponse('**/api/auth/login');
      await page.keyboard.press('Enter');
      const answer = await answered;
      if (answer.status() === 429) break;
      // Until it is told, which the one before is not any more, another try would not be sent.
      await page.getByRole('alert').waitFor();
    }
    await page.locator('[data-wait]').waitFor();
    expect(await page.locator('[data-wait]').innerText()).toMatch(/try again in \d+ (s|min)/);
    const button = page.getByRole('button', { name: 'Sign in' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await leave(visit);
  });
});
