import { beforeAll, expect, it } from 'vitest';
import { go } from './harness';
import { openOwnStage, visitEach } from './stage';
import { ILL, WELL } from './upstream';
import { watch } from './watched';

const stage = openOwnStage();
const here = visitEach(stage);
const watched = watch(stage);
let id = '';
beforeAll(async () => {
  id = await watched.add('Orders', watched.upstream.at('/health', WELL), { team: 'Shop' });
});

const open = async (more = '') => {
  await go(here.page, `/services/${id}${more}`);
  await here.page.waitForSelector('[data-row]');
};
const row = (name: string) => here.page.getByRole('row').filter({ hasText: name }).first();
async function becomes(answer: object | number) {
  watched.upstream.at('/health', answer);
  await watched.poll(id);
}

it('tells how it is, and why it is polled now or not', async () => {
  const { page } = here;
  await open();
  await expect.poll(() => page.title()).toBe('Orders · Mainstay');
  await page.locator('[data-reason]').getByText(/It is not due yet|under way|It is due/).waitFor();
  expect(await row('orders-db').innerText()).toMatch(/healthy\s+database\s+3\.2/);
  expect(await row('legacy-mail').innerText()).toContain('skipped');
});

it('follows what happens to what it leans on, and sets apart what is not reported any more', async () => {
  const { page } = here;
  await open();
  await becomes(ILL);
  await row('payments').getByText('down').waitFor();
  await row('payments').getByText('timed out after 1500 ms').waitFor();
  await row('search').getByText('degraded').waitFor();
  const gone = page.getByRole('region', { name: 'No longer reported' });
  await gone.getByText('legacy-mail').waitFor();
  await becomes(WELL);
  await row('payments').getByText('healthy').waitFor();
  await gone.getByText('search').waitFor();
});

it('says why a poll failed, and keeps its history', async () => {
  const { page } = here;
  await open();
  await becomes(503);
  await page.getByText('The last poll failed:').waitFor();
  expect(await row('payments').innerText()).toContain('unknown');
  const history = page.getByRole('region', { name: 'Poll history' });
  await history.getByText('http_status').first().waitFor();
  await page.locator('[data-reason]').getByText('waits before it is asked again').waitFor();
  await becomes(WELL);
  await page.getByText('The last poll failed:').waitFor({ state: 'detached' });
  await history.getByText('answered').first().waitFor();
});

it('lists what of an answer could not be read', async () => {
  const { page } = here;
  await open();
  await becomes([...WELL, { healthy: true }]);
  await page.getByRole('region', { name: 'Poll issues' }).getByText('"name" is missing').waitFor();
  await becomes(WELL);
});

it('polls it now, and says so when one is under way already', async () => {
  const { page, mayRefuse } = here;
  mayRefuse(409);
  await open();
  await page.getByRole('button', { name: 'Poll now' }).click();
  await page.getByText(/^Answered in .* with 3 dependencies: nothing changed$/).first().waitFor();
  watched.upstream.at('/health', 'hangs');
  const before = watched.upstream.asked.length;
  const other = watched.poll(id);
  await expect.poll(() => watched.upstream.asked.length).toBeGreaterThan(before);
  await page.getByRole('button', { name: 'Poll now' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toMatch(/poll/i);
  watched.upstream.at('/health', WELL);
  watched.upstream.letGo(WELL);
  await other;
});

it('counts down when it may not be polled yet', async () => {
  const { page, mayRefuse } = here;
  mayRefuse(429);
  await page.route('**/poll', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'Retry-After': '30' },
      json: { error: 'The host is busy', code: 'host_busy', detail: 'Wait.' },
    }),
  );
  await open();
  await page.getByRole('button', { name: 'Poll now' }).click();
  await page.locator('[data-wait]').getByText(/again in \d+ s/).waitFor();
  expect(await page.getByRole('button', { name: 'Poll now' }).getAttribute('aria-disabled')).toBe('true');
});

it('tells the past on one axis: a lane for each dependency, and the latency of one', async () => {
  const { page } = here;
  await becomes(ILL);
  await becomes(WELL);
  await open();
  await page.locator('[data-row]').filter({ hasText: 'payments' }).click();
  const chart = page.getByRole('slider', { name: 'Latency over time' });
  const told = () => chart.getAttribute('aria-valuetext');
  await expect.poll(told).toMatch(/^1h: least/);
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(told).toMatch(/^\d\d:\d\d:\d\d: least .*average .*p95 .*most/);
  await page.keyboard.press('Escape');
  await expect.poll(told).toMatch(/^1h: least/);
  // The first Escape was the chart's own.
  const panel = page.locator('aside');
  await panel.getByText('timed out after 1500 ms').first().waitFor();
  await panel.getByText('Recovered').first().waitFor();
  await page.getByRole('link', { name: '7d' }).click();
  await page.waitForURL(/range=7d/);
  await expect.poll(told).toMatch(/^7d: least/);
  await page.reload();
  await page.getByRole('link', { name: '7d' }).and(page.locator('[aria-current]')).waitFor();
  await page.getByText('As a table').click();
  await page.getByRole('columnheader', { name: 'Measured' }).waitFor();
});

it('walks the lanes by keys, each part with its name', async () => {
  const { page } = here;
  await open();
  const lanes = page.getByRole('slider', { name: 'Health over time' });
  const told = () => lanes.getAttribute('aria-valuetext');
  await lanes.focus();
  await expect.poll(async () => {
    await page.keyboard.press('ArrowLeft');
    return told();
  }).toMatch(/: (healthy|skipped|unknown|down) for .*, from \d\d:\d\d:\d\d/);
  const first = /^[^:]*/.exec((await told()) ?? '')?.[0];
  // The service itself is above all that it leans on.
  expect(first).toBe(await page.getByRole('heading', { level: 1 }).innerText());
  await page.keyboard.press('ArrowDown');
  // Each lane is read by itself.
  await expect.poll(told).not.toMatch(/not read yet/);
  expect(await told()).not.toMatch(new RegExp(`^${first ?? ''}:`));
  await page.keyboard.press('Home');
  await expect.poll(told).toMatch(/unknown for/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('aside');
});

it('counts down to the next poll, and tells the uptime', async () => {
  const { page } = here;
  await open();
  await page.locator('[data-next]').getByText(/in \d+\ss|now|under way/).waitFor();
  await page.getByText(/%/).first().waitFor();
});

it('tells the errors of all that it leans on together', async () => {
  const { page } = here;
  await becomes(ILL);
  await open();
  const errors = page.getByRole('region', { name: 'Error history' });
  await errors.getByText('timed out after 1500 ms').first().waitFor();
  await becomes(WELL);
  await errors.getByText('Recovered').first().waitFor();
});

it('shows a new error of the opened dependency without being loaded again', async () => {
  const { page } = here;
  await open();
  await page.locator('[data-row]').filter({ hasText: 'orders-db' }).click();
  const panel = page.locator('aside');
  await panel.getByText('Nothing was wrong with it yet.').waitFor();
  await panel.getByText('Nobody can order').waitFor();
  await becomes([{ ...WELL[0], healthy: false, errorMessage: 'too many connections' }]);
  await panel.getByText('too many connections').first().waitFor();
  await becomes(WELL);
  await panel.getByText('Recovered').waitFor();
});

it('is turned off and on, and deleted, after a yes', async () => {
  const { page, mayRefuse } = here;
  // The page may read it once more before it leaves it, and is gone back to.
  mayRefuse(404);
  const short = await watched.add('Short-lived', watched.upstream.at('/short', WELL));
  await go(page, `/services/${short}`);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.locator('[data-reason]').getByText('It is not active').waitFor();
  await page.getByText('inactive').first().waitFor();
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('button', { name: 'Deactivate' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Delete Short-lived?').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete the service' }).click();
  await page.waitForURL('**/services');
  await go(page, `/services/${short}`);
  await page.getByText('There is no such service.').waitFor();
});
