import { json } from 'node:stream/consumers';
import type { FileChooser, Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { chord, go, keep, leave, lookAround } from './harness';
import { PASSWORD } from './people';
import { Shelf } from './shelf';
import { openOwnStage, visitEach } from './stage';
import { choose, drop, EXAMPLE } from './transcripts';

/** Reports are written without a model, so that the same call makes the same report. */
const stage = openOwnStage({ env: { LLM_PROVIDER: 'fake' } });
const here = visitEach(stage);

const article = (page: Page) => page.getByRole('article');
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name }).first();
const standing = (at: Locator, status: string) => at.locator(`[data-standing="${status}"]`);

/** Uploads a transcript and opens its report. */
async function reported(page: Page, name: string, text = EXAMPLE.text): Promise<void> {
  await go(page, '/reports');
  await choose(page, { name, text });
  await page.getByRole('link', { name: `Follow it: ${name}` }).click();
  await article(page).waitFor();
}

it('makes a report of a dropped transcript, live and without a reload', async () => {
  const { page } = here;
  await go(page, '/reports');
  await page.getByText('You have made no report yet.').waitFor();
  expect(await page.locator('[data-copy="command"]').innerText()).toContain(`${stage.origin}/api/files/upload`);
  await page.evaluate(() => {
    document.body.dataset['since'] = 'before';
  });
  await drop(page, EXAMPLE);
  await page.locator('[data-upload="sent"]').waitFor();
  await standing(row(page, EXAMPLE.name), 'succeeded').waitFor();
  expect(await page.locator('body').getAttribute('data-since')).toBe('before');
  await page.keyboard.press(']');
  await page.keyboard.press('Enter');
  await page.locator('aside').getByRole('link', { name: 'Open the report' }).click();
  await article(page).waitFor();
  const title = await article(page).getByRole('heading', { level: 2 }).innerText();
  await expect.poll(() => page.title()).toBe(`${title} · Mainstay`);
  const quotes = await page.locator('blockquote').allInnerTexts();
  expect(quotes.length).toBeGreaterThan(3);
  for (const quote of quotes) expect(EXAMPLE.text).toContain(quote);
});

it('looks well as a document with a link to share', async () => {
  const { page } = here;
  await reported(page, 'looked-at.vtt');
  await page.getByRole('button', { name: 'Create a link' }).click();
  await page.locator('[data-once]').waitFor();
  await lookAround(page, 'report-shared');
});

it('looks well with files that were refused', async () => {
  const { page } = here;
  await go(page, '/reports');
  await drop(page, { name: 'call.pdf', text: 'x' }, { name: 'good.txt', text: 'hello there' });
  await page.locator('[data-upload="sent"]').waitFor();
  await lookAround(page, 'reports-uploads');
});

it('says what is wrong with a file before it is sent', async () => {
  const { page } = here;
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/upload')) sent.push(request.url());
  });
  await go(page, '/reports');
  await drop(page, { name: 'call.pdf', text: 'x' }, { name: 'empty.txt', text: '' });
  await choose(page, { name: 'long.txt', text: 'x'.repeat(10_485_761) });
  const refused = page.locator('[data-upload="refused"]');
  await expect.poll(() => refused.count()).toBe(3);
  const said = await refused.allInnerTexts();
  expect(said[0]).toContain('.txt or .vtt');
  expect(said[1]).toContain('empty');
  expect(said[2]).toMatch(/10\.1.MB, and a transcript may have 10.MB/);
  await page.getByRole('button', { name: 'Put call.pdf away' }).click();
  expect(await refused.count()).toBe(2);
  expect(sent).toEqual([]);
});

it('shows the refusal of the server in its own words', async () => {
  const { page } = here;
  here.mayRefuse(400);
  // A page that is older than the server believes in a kind of file that is not taken any more.
  await page.route('**/api/reports', async (route) => {
    const state = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...state, extensions: ['txt', 'vtt', 'md'] } });
  });
  await go(page, '/reports');
  await expect.poll(() => page.locator('input[type="file"]').getAttribute('accept')).toContain('.md');
  await choose(page, { name: 'call.md', text: 'hello' });
  await page.locator('[data-upload="refused"]').getByText('only transcripts whose name ends in', { exact: false }).waitFor();
});

it('shows how far an upload is, and stops it', async () => {
  const { page } = here;
  await go(page, '/reports');
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 64 * 1024 };
  await network.send('Network.emulateNetworkConditions', slow);
  await choose(page, { name: 'slow.txt', text: 'x'.repeat(6_000_000) }, { name: 'next.txt', text: 'hello there' });
  const progress = page.getByRole('progressbar', { name: 'Upload of slow.txt' });
  await expect.poll(async () => Number((await progress.getAttribute('value')) ?? 0)).toBeGreaterThan(0);
  await page.locator('[data-upload="waiting"]').filter({ hasText: 'next.txt' }).waitFor();
  await page.getByRole('button', { name: 'Cancel the upload of slow.txt' }).click();
  // The next one has its turn at once.
  await page.locator('[data-upload="sent"]').filter({ hasText: 'next.txt' }).waitFor();
  await expect.poll(() => page.getByText('slow.txt').count()).toBe(0);
  // The server undoes it as soon as it notices.
  const names = () => stage.asAdmin(async (api) => (await api.list<{ name: string }>('/api/files')).map(({ name }) => name));
  await expect.poll(names).not.toContain('slow.txt');
});

it('puts beside the call what was recorded in the time of the incident', async () => {
  const { page } = here;
  await go(page, '/reports');
  await page.getByText('The time of the incident').click();
  await page.waitForURL(/from=.*&to=/);
  await page.getByLabel('To').fill('2020-01-01T00:00');
  await page.getByText('It must end after it began.').waitFor();
  await drop(page, EXAMPLE);
  await page.getByText('Nothing was sent').first().waitFor();
  expect(await page.locator('[data-upload]').count()).toBe(0);

  const end = new Date(Date.now() - 60_000);
  await go(page, `/reports?from=${new Date(end.getTime() - 600_000).toISOString()}&to=${end.toISOString()}`);
  await choose(page, { name: 'with-window.vtt', text: EXAMPLE.text });
  await page.getByRole('link', { name: 'Follow it: with-window.vtt' }).click();
  await page.getByRole('heading', { name: 'Recorded by Mainstay' }).waitFor();
  // Nothing is watched here, so that nothing is known of any time.
  await page.getByText('Mainstay has no records of this time').waitFor();
  await page.getByText('Not recorded.', { exact: true }).waitFor();
  expect(await page.getByText('Nothing changed').count()).toBe(0);
});

it('says what a queued report waits for where the server has no model any more', async () => {
  const { page } = here;
  const shelf = await new Shelf().serve(page);
  shelf.configured = false;
  await go(page, '/reports');
  await row(page, 'waiting.vtt').getByText('waits for a language model').waitFor();
  await page.getByText('what is queued waits').waitFor();
  await go(page, `/reports/${shelf.id('waiting.vtt')}`);
  const waits = page.locator('[data-waits]');
  await waits.getByText('The report waits for a language model.').waitFor();
  await waits.getByText('Set LLM_API_KEY and restart Mainstay.').waitFor();
});

it('says why there is no report, and tries again', async () => {
  const { page } = here;
  await go(page, '/reports');
  await choose(page, { name: 'blank.txt', text: ' \n \n' });
  await page.getByRole('link', { name: 'Follow it: blank.txt' }).click();
  const failed = page.locator('[data-failed]');
  await failed.getByText('empty_original_transcript').waitFor();
  const retried = page.waitForResponse(/\/retry$/);
  await page.getByRole('button', { name: 'Retry' }).click();
  expect((await retried).status()).toBe(200);
  await page.getByText('The report of blank.txt is queued again').first().waitFor();
  // It is as blank as before.
  await failed.getByText('empty_original_transcript').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});

it('is shared by a link that another person opens, until it is revoked', async () => {
  const { page } = here;
  await reported(page, 'shared.vtt');
  const title = await article(page).getByRole('heading', { level: 2 }).innerText();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.locator(':focus').and(page.getByLabel('Works for')).selectOption('1 day');
  await page.getByRole('button', { name: 'Create a link' }).click();
  const link = await page.locator('[data-once] [data-copy="link"]').innerText();
  expect(link).toMatch(/\/shared#[\w-]{43}$/);
  await page.getByRole('button', { name: 'Done, I have it' }).click();
  expect(await page.getByText(link).count()).toBe(0);

  const other = await stage.visit({}, await stage.newPerson('jonas@example.com', 'viewer'));
  other.mayRefuse(404);
  other.mayRefuse(410);
  await go(other.page, link.slice(stage.origin.length));
  await article(other.page).getByRole('heading', { name: title }).waitFor();
  expect(await other.page.getByRole('button', { name: /Delete|Create a link|Retry/ }).count()).toBe(0);

  await page.getByRole('button', { name: /^Revoke the link/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the link' }).click();
  await page.getByRole('cell', { name: 'revoked' }).or(page.getByRole('rowheader', { name: 'revoked' })).waitFor();
  await other.page.reload();
  await other.page.getByText('This link was taken back.').waitFor();
  await go(other.page, `/shared#${'a'.repeat(43)}`);
  await other.page.getByText('This link leads to no report.').waitFor();
  await leave(other);
});

it('asks for a session first, and comes back to what was shared', async () => {
  const { page } = here;
  await reported(page, 'for-later.vtt');
  await page.getByRole('button', { name: 'Create a link' }).click();
  const link = await page.locator('[data-once] [data-copy="link"]').innerText();
  await stage.newPerson('nadia@example.com', 'viewer');

  const outside = await stage.visitOutside();
  outside.mayRefuse(401);
  await outside.page.goto(link);
  await outside.page.waitForURL(/\/login\?next=%2Fshared$/);
  await outside.page.getByLabel('E-mail').fill('nadia@example.com');
  await outside.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await outside.page.keyboard.press('Enter');
  await article(outside.page).waitFor();
  expect(outside.page.url()).toBe(link);
  await leave(outside);
});

it('prints clean, and is downloaded as JSON', async () => {
  const { page } = here;
  await reported(page, 'printed.vtt');
  const downloaded = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download JSON' }).click();
  const file = await downloaded;
  expect(file.suggestedFilename()).toBe('printed.report.json');
  const saved = (await json(await file.createReadStream())) as { file_name: string; report: object };
  expect(saved.file_name).toBe('printed.vtt');
  expect(saved.report).toHaveProperty('root_causes');

  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  for (const screen of ['header', '.rail', '.notice', '[data-screen]']) {
    expect(await page.locator(screen).filter({ visible: true }).count(), screen).toBe(0);
  }
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).toBe('rgb(255, 255, 255)');
  // All of it flows over the pages: nothing is cut off where a screen would end.
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  const drawn = (await article(page).boundingBox())?.height ?? Infinity;
  expect(whole).toBeGreaterThanOrEqual(Math.floor(drawn));
  // A page of A4 without its margins.
  await page.setViewportSize({ width: 673, height: 987 });
  await keep(page, 'report-print');
  await page.emulateMedia({ media: 'screen' });
});

it('prints every moment that was recorded, as briefly as on the screen and without a button', async () => {
  const { page } = here;
  const at = '2026-11-15T21:00:00.000Z';
  const names = Array.from({ length: 40 }, (_, index) => `shop-${String(index)}`);
  await page.route('**/api/files/*/report', async (route) => {
    const response = await route.fetch();
    const report = (await response.json()) as object;
    const entries = names.map((name) => ({ at, what: `service ${name} could be polled again` }));
    const later = (minute: number) => `2026-11-15T21:${String(minute).padStart(2, '0')}:00.000Z`;
    for (let minute = 1; minute <= 30; minute += 1) {
      entries.push({ at: later(minute), what: `service bank became ${minute % 2 === 1 ? 'down' : 'healthy'}` });
    }
    const to = later(30);
    const recorded_timeline = { from: at, to, covered: { from: at, to }, entries };
    await route.fulfill({ response, json: { ...report, recorded_timeline } });
  });
  await reported(page, 'long-print.vtt');
  const told = article(page).getByText('could be polled again').filter({ visible: true });
  const brief = ['shop-0, shop-1, shop-2 and 37 more services could be polled again'];
  await expect.poll(() => told.allInnerTexts()).toEqual(brief);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  expect(await told.allInnerTexts()).toEqual(brief);
  expect(await article(page).getByText('service bank became').filter({ visible: true }).count()).toBe(30);
  expect(await article(page).getByRole('button').filter({ visible: true }).count()).toBe(0);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  await page.unroute('**/api/files/*/report');
});

it('offers to make a report anew that can not be read', async () => {
  const { page } = here;
  await reported(page, 'lost.vtt');
  const lost = { error: 'report_fetch_failed', code: 'report_fetch_failed', detail: 'It is gone.' };
  await page.route('**/api/files/*/report', (route) => route.fulfill({ status: 500, json: lost }));
  here.mayRefuse(500);
  here.mayRefuse(409);
  await page.reload();
  await page.locator('[data-lost]').getByRole('button', { name: 'Make it anew' }).click();
  // It was never lost, and the server knows.
  await page.locator('[data-lost]').getByText('has not failed').waitFor();
  await page.unroute('**/api/files/*/report');
  await page.locator('[data-lost]').getByRole('button', { name: 'Try again' }).click();
  await article(page).waitFor();
});

it('is deleted after a question that names what goes', async () => {
  const { page } = here;
  await reported(page, 'old.vtt');
  // The page may read it once more before it leaves it, and is gone back to.
  here.mayRefuse(404);
  const address = page.url();
  await page.getByRole('button', { name: 'Delete old.vtt' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('its report and every link that shares it').waitFor();
  await dialog.getByRole('button', { name: 'Delete transcript and report' }).click();
  await page.waitForURL('**/reports');
  await page.locator('[data-count]').getByText(/report/).waitFor();
  await row(page, 'old.vtt').waitFor({ state: 'detached' });
  await page.goto(address);
  await page.getByText('You have no such report.').waitFor();
});

it('is reached and used by keys', async () => {
  const { page } = here;
  const choosers: FileChooser[] = [];
  page.on('filechooser', (chooser) => choosers.push(chooser));
  await go(page, '/');
  await chord(page, 'gr');
  await page.waitForURL('**/reports');
  await page.locator('[data-row]').first().waitFor();
  await page.keyboard.press('c');
  await expect.poll(() => choosers.length).toBe(1);
  expect(choosers[0]?.isMultiple()).toBe(true);
  await page.keyboard.press('/');
  await page.keyboard.type('blank');
  await expect.poll(() => page.locator('[data-row]').count()).toBe(1);
  await go(page, '/system');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('upload a tr');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/reports');
  await expect.poll(() => choosers.length).toBe(2);
});
