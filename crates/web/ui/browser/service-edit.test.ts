import { beforeAll, describe, expect, it } from 'vitest';
import { go, leave } from './harness';
import { PASSWORD, signInAgain } from './people';
import { openOwnStage, visitEach } from './stage';
import { WELL } from './upstream';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);

const SPRING = { status: 'UP', components: { db: { status: 'UP' }, redis: { status: 'DOWN' }, disk: { status: 'ODD' } } };
const field = (label: string) => here.page.getByLabel(label, { exact: true });
const tester = () => here.page.getByRole('region', { name: 'What Mainstay would read' });
const dialog = () => here.page.getByRole('dialog');

async function fill(name: string, endpoint: string) {
  await field('Name').fill(name);
  await field('Health endpoint').fill(endpoint);
}

describe('a new service', () => {
  it('is tried while it is written, and watched once it is saved', async () => {
    const { page } = here;
    await go(page, '/services');
    await page.locator('[data-create]').first().waitFor();
    await page.keyboard.press('c');
    await page.waitForURL('**/services/new');
    await fill('Orders', watched.upstream.at('/orders', WELL));
    await tester().getByText('3 dependencies').waitFor();
    expect(await tester().getByRole('row').filter({ hasText: 'orders-db' }).innerText()).toMatch(/healthy/);
    await page.getByLabel('Team').fill('Shop');
    await page.getByRole('button', { name: 'Add the service' }).click();
    await page.waitForURL(/\/services\/[\da-f-]{36}$/);
    await page.getByRole('row').filter({ hasText: 'payments' }).getByText('healthy').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  });

  it('is read by a mapping that is tested on a sample as it is typed', async () => {
    const { page } = here;
    await go(page, '/services/new');
    await page.getByRole('radio', { name: /^schema/ }).check();
    await tester().getByText('Give a mapping').waitFor();
    await page.getByLabel('Start from a mapping').selectOption('Spring Boot Actuator');
    await page.getByRole('radio', { name: 'a pasted sample' }).check();
    await field('Sample answer optional').fill(JSON.stringify(SPRING));
    await tester().getByText('2 dependencies, 1 warning').waitFor();
    await tester().getByText(/index \d+/).waitFor();
    expect(await tester().getByRole('row').filter({ hasText: 'redis' }).innerText()).toContain('down');

    await field('Mapping').fill('{"root": "nowhere", "fields": {"name": "$key", "healthy": "status"}}');
    await tester().getByText('A poll would fail: bad_body').waitFor();
    await tester().getByText(/nowhere/).first().waitFor();
    here.mayRefuse(400);
    await field('Mapping').fill('{"root": "components", "fields": {"nme": "$key"}}');
    await tester().getByText(/nme/).first().waitFor();
    await field('Mapping').fill('{"root"');
    await tester().getByText('This is not JSON yet').waitFor();

    // What somebody wrote is not thrown away without a question.
    await page.getByLabel('Start from a mapping').selectOption('ASP.NET Health Checks');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await field('Mapping').inputValue()).toBe('{"root"');
    await page.getByLabel('Start from a mapping').selectOption('Spring Boot Actuator');
    await dialog().getByRole('button', { name: 'Replace it' }).click();
    await fill('Spring', watched.upstream.at('/spring', SPRING));
    await page.getByRole('button', { name: 'Add the service' }).click();
    await page.waitForURL(/\/services\/[\da-f-]{36}$/);
    await page.getByRole('row').filter({ hasText: 'redis' }).getByText('down').waitFor();
    await page.getByRole('region', { name: 'Poll issues' }).getByText(/healthy/).first().waitFor();
  });

  it('is refused at the field that is wrong, which gets the focus', async () => {
    const { page, mayRefuse } = here;
    mayRefuse(409);
    mayRefuse(422);
    await watched.add('Taken', watched.upstream.at('/taken', WELL));
    await go(page, '/services/new');
    await page.getByRole('button', { name: 'Add the service' }).click();
    await page.getByText('Give it a name.').waitFor();
    expect(await field('Name').evaluate((input) => input === document.activeElement)).toBe(true);
    await fill('taken', watched.upstream.at('/taken', WELL));
    await page.getByLabel('Poll every, in seconds').fill('1');
    await page.getByRole('button', { name: 'Add the service' }).click();
    await page.getByText('A number of seconds from 5 to 3600.').waitFor();
    await page.getByLabel('Poll every, in seconds').fill('60');
    await page.getByRole('button', { name: 'Add the service' }).click();
    await expect.poll(() => field('Name').getAttribute('aria-invalid')).toBe('true');
    await fill('Free', 'http://169.254.169.254/latest');
    await page.getByRole('button', { name: 'Add the service' }).click();
    await expect.poll(() => field('Health endpoint').getAttribute('aria-invalid')).toBe('true');
    expect(await field('Health endpoint').evaluate((input) => input === document.activeElement)).toBe(true);
    await field('Health endpoint').fill('http://orders.example.org');
    expect(await field('Health endpoint').getAttribute('aria-invalid')).toBeNull();
  });
});

describe('an edit', () => {
  let id = '';
  beforeAll(async () => {
    const headers = { Authorization: 'Bearer secret-one', 'X-Team': 'two' };
    id = await watched.add('Kept', watched.upstream.at('/kept', WELL), { headers });
  });

  it('shows the names of headers, never a value, and changes only what was changed', async () => {
    const { page } = here;
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postDataJSON());
    });
    await go(page, `/services/${id}/edit`);
    await page.getByRole('heading', { level: 1, name: 'Edit Kept' }).waitFor();
    expect(await page.content()).not.toContain('secret-one');
    await page.getByRole('listitem').filter({ has: page.locator('input[name="headers-name-0"]') }).getByLabel(/^Value/).fill('Bearer new');
    await page.getByRole('button', { name: 'Take X-Team away' }).click();
    await page.getByText('is taken away when you save').waitFor();
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.keyboard.type('X-New');
    await page.keyboard.press('Tab');
    await page.keyboard.type('three');
    await page.getByLabel('Poll every, in seconds').fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(`**/services/${id}`);
    expect(sent).toEqual([
      { poll_interval_ms: 5_000, headers: { Authorization: 'Bearer new', 'X-Team': null, 'X-New': 'three' } },
    ]);
    await watched.poll(id);
    const last = watched.upstream.asked.filter(({ url }) => url === '/kept').at(-1)?.headers;
    expect([last?.authorization, last?.['x-team'], last?.['x-new']]).toEqual(['Bearer new', undefined, 'three']);
  });

  it('is not lost by leaving, unless that is meant', async () => {
    const { page } = here;
    await go(page, `/services/${id}`);
    await page.getByRole('link', { name: 'Edit' }).click();
    await field('Name').fill('Renamed');
    await page.getByText('Not saved yet').waitFor();
    await page.locator('nav').getByRole('link', { name: 'System' }).click();
    await dialog().getByText('Leave without saving?').waitFor();
    await dialog().getByRole('button', { name: 'Stay here' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(await field('Name').inputValue()).toBe('Renamed');
    await page.goBack();
    await dialog().getByRole('button', { name: 'Stay here' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe(`/services/${id}/edit`);
    expect(await field('Name').inputValue()).toBe('Renamed');
    await page.goBack();
    await dialog().getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(`**/services/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
  });

  it('is not lost when the session ends', async () => {
    const visit = await stage.visit({}, await stage.newPerson('eva@example.com', 'editor'));
    visit.mayRefuse(401);
    const { page } = visit;
    await go(page, `/services/${id}/edit`);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Kept for long');
    await page.getByLabel('Team').fill('Night shift');
    await page.context().clearCookies();
    // Whatever is read meanwhile may have told already that the session is over.
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    await signInAgain(page);
    expect([await name.inputValue(), await page.getByLabel('Team').inputValue()]).toEqual(['Kept for long', 'Night shift']);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(`**/services/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Kept for long' }).waitFor();
    await leave(visit);
    await stage.asAdmin((api) => api.patch(`/api/services/${id}`, { name: 'Kept', team: null }));
  });

  it('asks for one more press once the session is begun again, and speaks of no programs', async () => {
    const visit = await stage.visit({}, await stage.newPerson('elif@example.com', 'editor'));
    visit.mayRefuse(401);
    const { page } = visit;
    await go(page, `/services/${id}/edit`);
    await page.getByLabel('Name', { exact: true }).fill('Kept at once');
    const ended = {
      error: 'You are not signed in',
      code: 'unauthenticated',
      detail: 'Sign in, or send Authorization: Bearer mst_…',
    };
    await page.route(`**/api/services/${id}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 401, json: ended }) : route.fallback(),
    );
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    const alert = page.getByRole('main').getByRole('alert');
    await alert.getByText('Your session has ended').waitFor();
    await signInAgain(page);
    await alert.getByText('press the button once more').waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(/Bearer|session has ended/);
    await page.unroute(`**/api/services/${id}`);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(`**/services/${id}`);
    await leave(visit);
    await stage.asAdmin((api) => api.patch(`/api/services/${id}`, { name: 'Kept' }));
  });

  it('goes on as soon as another tab has begun the session again', async () => {
    const person = await stage.newPerson('edda@example.com', 'editor');
    const visit = await stage.visit({}, person);
    visit.mayRefuse(401);
    const { page } = visit;
    await go(page, `/services/${id}/edit`);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Kept by another');
    await page.context().clearCookies();
    // Whatever is read meanwhile may have told already that the session is over.
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.waitFor();
    const other = await page.context().newPage();
    await other.goto('/login');
    await other.getByLabel('E-mail').fill('edda@example.com');
    await other.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await other.keyboard.press('Enter');
    await other.waitForSelector('[data-light="live"]');
    await again.waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Kept by another');
    await leave(visit);
  });

  it('is not lost where a server that was set up anew knows the person by another id', async () => {
    const visit = await stage.visit({}, await stage.newPerson('enno@example.com', 'editor'));
    visit.mayRefuse(401);
    const { page } = visit;
    await go(page, `/services/${id}/edit`);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Kept beyond');
    const anew = (answer: { user: { id: string } }) => ({ ...answer, user: { ...answer.user, id: 'another' } });
    for (const path of ['**/api/auth/login', '**/api/auth/me']) {
      await page.route(path, async (route) => {
        const answer = await route.fetch();
        if (answer.status() !== 200) return route.fulfill({ response: answer });
        await route.fulfill({ response: answer, json: anew((await answer.json()) as { user: { id: string } }) });
      });
    }
    await page.context().clearCookies();
    // Whatever is read meanwhile may have told already that the session is over.
    await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
    await signInAgain(page);
    expect(await name.inputValue()).toBe('Kept beyond');
    await leave(visit);
  });

  it('leaves without a question when nothing was changed', async () => {
    const { page } = here;
    await go(page, `/services/${id}/edit`);
    await field('Name').fill('Kept x');
    await field('Name').fill('Kept');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.waitForURL(`**/services/${id}`);
  });
});

it('keeps a switch that was turned when the session ends', async () => {
  const id = await watched.add('Switched', watched.upstream.at('/switched', WELL));
  const visit = await stage.visit({}, await stage.newPerson('ellen@example.com', 'editor'));
  visit.mayRefuse(401);
  const { page } = visit;
  await go(page, `/services/${id}/edit`);
  const polled = page.getByRole('checkbox', { name: /^Poll it/ });
  await polled.uncheck();
  await page.context().clearCookies();
  // Another read may have been told before, and the dialog stands in front of it.
  await page.getByRole('button', { name: 'Save' }).dispatchEvent('click');
  await signInAgain(page);
  expect(await polled.isChecked()).toBe(false);
  await leave(visit);
});
