import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { go, lookAround } from './harness';
import { openOwnStage, visitEach } from './stage';
import { Upstream, type Answer } from './upstream';

const stage = openOwnStage();
const here = visitEach(stage);
const upstream = new Upstream();

beforeAll(() => upstream.start());
afterAll(() => upstream.stop());

/** Where the journeys of these tests go. */
const shop = (answer: Answer = []) => upstream.at('/shop', answer);

const source = (name: string) =>
  `journey: ${name}\ntouches: [Orders]\nsteps:\n  - id: page\n    get: "${shop()}"\n    expect: { status: 200 }\n    emit: Seen\n`;

const editor = (page: Page) => page.getByRole('textbox', { name: 'The journey, as YAML' });

it('says what a journey is while there is none', async () => {
  const { page } = here;
  await go(page, '/journeys');
  await page.getByText('No journey is kept yet.').waitFor();
  expect(await page.locator('[data-copy="command"]').innerText()).toContain('mainstay journey run');
  await lookAround(page, 'journeys-none');
});

it('shows mistakes at their lines as one types, and keeps what is right', async () => {
  const { page } = here;
  await go(page, '/journeys');
  await page.locator('[data-create]').first().waitFor();
  await page.keyboard.press('c');
  await editor(page).waitFor();
  await editor(page).fill(source('typed').replace('expect:', 'expct:'));
  await page.getByText('did you mean expect?').waitFor();
  const wrong = page.locator('li.wrong');
  await expect.poll(() => wrong.allInnerTexts()).toEqual(['6']);
  expect(await page.getByRole('button', { name: 'Add the journey' }).getAttribute('aria-disabled')).toBe('true');
  await lookAround(page, 'journey-mistake');
  await page.getByRole('button', { name: /did you mean expect/ }).click();
  await expect.poll(() => editor(page).evaluate((area) => document.activeElement === area)).toBe(true);
  await editor(page).fill(source('typed'));
  await page.getByText('typed: 1 step, by hand').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await expect.poll(() => page.title()).toContain('typed');
});

it('runs a journey, and shows on one axis what failed with got and expected', async () => {
  const { page } = here;
  await stage.asAdmin((api) => api.post('/api/journeys', { source: source('by hand') }));
  shop(503);
  await go(page, '/journeys');
  await page.getByRole('button', { name: 'Run by hand now' }).click();
  await page.getByRole('group', { name: 'What failed' }).waitFor();
  const failed = await page.getByRole('group', { name: 'What failed' }).innerText();
  expect(failed).toMatch(/Expected status\s+200\s+Got\s+503/);
  const steps = page.getByRole('option');
  expect(await steps.count()).toBe(1);
  expect(await steps.first().getAttribute('aria-label')).toContain('page: failed');
  expect(await page.locator('[data-copy="curl command"]').innerText()).toContain(`curl -sS -i -L '${shop(503)}'`);
  await lookAround(page, 'journey-run-failed');
  await go(page, '/');
  await go(page, '/journeys?filter=by+hand');
  await page.getByText('failing', { exact: true }).first().waitFor();
  shop();
  await page.getByRole('button', { name: 'Run by hand now' }).click();
  await page.getByText('Seen').waitFor();
  await page.getByText('passed').first().waitFor();
  await lookAround(page, 'journey-run-passed');
  await go(page, '/journeys');
  await page.getByText('passing', { exact: true }).first().waitFor();
  await lookAround(page, 'journeys');
});

it('draws a run while it is under way, and ends it when it is asked to', async () => {
  const { page } = here;
  const stuck = upstream.at('/stuck', 'hangs');
  const source = `journey: slow\nsteps:\n  - id: page\n    get: "${shop()}"\n    emit: Seen\n  - id: export\n    get: "${stuck}"\n    timeout: 60s\n  - id: after\n    get: "${shop()}"\n`;
  await stage.asAdmin((api) => api.post('/api/journeys', { source }));
  await go(page, '/journeys');
  await page.getByRole('button', { name: 'Run slow now' }).click();
  const step = (name: string) => page.getByRole('option', { name });
  await step('page: passed').waitFor();
  await step('export: under way').waitFor();
  await step('after: not begun').waitFor();
  await page.getByText('It is under way').waitFor();
  await page.getByText('Seen').waitFor();
  // It grows without anything that happens.
  const took = () => step('export: under way').getAttribute('aria-label');
  const before = await took();
  await expect.poll(took).not.toBe(before);
  await lookAround(page, 'journey-run-under-way');
  await page.getByRole('button', { name: 'Cancel the run of slow' }).click();
  await page.getByRole('button', { name: 'Cancel the run', exact: true }).click();
  await page.getByText('aborted').first().waitFor();
  await page.getByText('it was cancelled').waitFor();
  // What came of it by then is told a moment later.
  await page.getByRole('group', { name: 'What failed' }).getByText('the run was cancelled').waitFor();
  await step('after: skipped').waitFor();
  await lookAround(page, 'journey-run-cancelled');
  await page.getByRole('button', { name: 'Run slow again' }).waitFor();
});

it('walks the steps by the keyboard', async () => {
  const { page } = here;
  const two = `${source('two steps')}  - id: again\n    get: "${shop()}"\n    expect: { status: 200 }\n`;
  const { id } = await stage.asAdmin(async (api) => {
    const made = await api.post('/api/journeys', { source: two });
    return (await made.json()) as { id: string };
  });
  await go(page, `/journeys/${id}`);
  await page.getByRole('button', { name: 'Run two steps now' }).click();
  await page.getByRole('option').nth(1).waitFor();
  await page.getByRole('option').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('heading', { name: 'again' }).waitFor();
  expect(await page.getByRole('option').nth(1).getAttribute('aria-selected')).toBe('true');
});

it('lets readers read, and nothing else', async () => {
  const reader = await stage.newPerson('reader@example.com', 'viewer');
  const visit = await stage.visit({}, reader);
  await go(visit.page, '/journeys');
  await visit.page.getByRole('row').nth(1).waitFor();
  expect(await visit.page.getByRole('button', { name: /^Run / }).count()).toBe(0);
  await go(visit.page, '/journeys/new');
  await visit.page.getByText('Journeys are changed by editors and admins.').waitFor();
  await visit.page.context().close();
});

it('keeps what is written while it is saved, and says when nobody looked it over', async () => {
  const { page, complaints, mayRefuse } = here;
  mayRefuse(400);
  await go(page, '/journeys/new');
  await editor(page).waitFor();
  const status = page.getByRole('status');
  await page.route('**/api/journeys/check', (route) => route.abort());
  await editor(page).fill(source('unlooked').replace('expect:', 'expct:'));
  await status.filter({ hasText: 'Not looked over' }).waitFor();
  // The server judges what nobody looked over.
  await page.keyboard.press('Control+s');
  await page.getByText('The journey is not valid').waitFor();
  await page.unroute('**/api/journeys/check');
  await editor(page).fill(source('unlooked'));
  await page.getByText('unlooked: 1 step, by hand').waitFor();
  let saving: (() => void) | undefined;
  await page.route('**/api/journeys', async (route) => {
    await new Promise<void>((resolve) => { saving = resolve; });
    await route.continue();
  });
  await page.keyboard.press('Control+s');
  await expect.poll(() => saving !== undefined).toBe(true);
  await editor(page).fill(`${source('unlooked')}# more\n`);
  saving?.();
  await page.locator('.notice').filter({ hasText: 'is saved, without what you have written since' }).waitFor();
  expect(await editor(page).inputValue()).toContain('# more');
  await page.unroute('**/api/journeys');
  await page.keyboard.press('Control+s');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  // The browser tells of what was cut off.
  expect(complaints.splice(0).join()).toMatch(/^(Failed to load resource: net::\S+,?)+$/);
});
