import { expect, it } from 'vitest';
import { chord, go, stopClock } from './harness';
import { Queue } from './queue';
import { openStage, visitEach } from './stage';

const stage = openStage();
const here = visitEach(stage);

async function open(path = '/admin/jobs'): Promise<Queue> {
  const queue = await new Queue().serve(here.page);
  await go(here.page, path);
  await here.page.waitForSelector('[data-row]');
  return queue;
}
const row = (subject: string) => here.page.getByRole('row').filter({ hasText: subject });
const rows = () => here.page.locator('[data-row]').allInnerTexts();

it('shows what the server really has', async () => {
  const { page } = here;
  await go(page, '/admin/jobs');
  await page.locator('[data-count]').getByText(/^(first )?\d+ jobs?$/).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});

it('tells how much there is by kind, and holds a kind back', async () => {
  const queue = await open();
  const { page } = here;
  expect(await row('mail').first().innerText()).toMatch(/mail\s+1\s+1\s+5.min\s+1 of 4\s+0\s+0/);
  await page.getByRole('button', { name: 'Pause mail' }).click();
  await page.getByRole('button', { name: 'Resume mail' }).waitFor();
  expect(queue.paused).toContain('mail');
  await page.getByRole('button', { name: 'Resume mail' }).click();
  await page.getByRole('button', { name: 'Pause mail' }).waitFor();
  await page.getByText('mail is running again').first().waitFor();
});

it('marks what is stuck, and lets the age of a heartbeat run', async () => {
  await open();
  const { page } = here;
  await page.getByRole('link', { name: 'Stuck 1' }).click();
  await page.waitForURL('**/admin/jobs?status=stuck');
  await expect.poll(rows).toHaveLength(1);
  await page.getByRole('cell', { name: 'stuck' }).waitFor();
  await page.locator('[data-row]').press('Enter');
  await page.locator('aside').getByText('no runner works').waitFor();

  await page.getByRole('link', { name: 'Running' }).click();
  const beat = row('alert 01JCQ3').locator('[data-when="heartbeat"]');
  await beat.waitFor();
  const before = await beat.innerText();
  expect(before).toMatch(/heartbeat\s+\d+.s ago/);
  await expect.poll(() => beat.innerText()).not.toBe(before);
});

it('tries a failed one again', async () => {
  const queue = await open('/admin/jobs?status=failed');
  const { page } = here;
  await page.locator('[data-row]').press('Enter');
  const panel = page.locator('aside');
  await panel.getByText('llm_provider_5xx').waitFor();
  await panel.getByText('The provider answered 502 four times in a row').waitFor();
  await panel.getByRole('button', { name: /^Retry/ }).click();
  await page.getByText('No job has failed.').waitFor();
  await panel.waitFor({ state: 'detached' });
  expect(queue.jobs.filter(({ status }) => status === 'failed')).toEqual([]);
});

it('cancels one that waits at once, and one that runs after a yes', async () => {
  const queue = await open();
  const { page } = here;
  const failed = () => queue.jobs.filter(({ status }) => status === 'failed').length;
  await page.getByRole('button', { name: /^Cancel Mail invite/ }).click();
  await row('nadia').getByText('failed').waitFor();
  expect(failed()).toBe(2);

  await page.getByRole('button', { name: 'Cancel mail alert 01JCQ3' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('harbour-1:4711 is told to stop').waitFor();
  await dialog.getByRole('button', { name: 'Let it run' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(failed()).toBe(2);
  await page.getByRole('button', { name: 'Cancel mail alert 01JCQ3' }).click();
  await dialog.getByRole('button', { name: 'Cancel the job' }).click();
  await row('alert 01JCQ3').getByText('failed').waitFor();
  expect(failed()).toBe(3);
});

it('says in words why something can’t be done', async () => {
  const queue = await open();
  const { page, mayRefuse } = here;
  mayRefuse(409);
  queue.refuses = 'This job has not failed';
  await page.getByRole('button', { name: /^Retry Incident report/ }).click();
  await page.getByRole('alert').getByText('This job has not failed').waitFor();
});

it('narrows by the address, by the kind and by words', async () => {
  const queue = await open('/admin/jobs?status=failed&kind=report');
  const { page } = here;
  expect(Object.fromEntries(queue.asked[0] ?? [])).toMatchObject({ status: 'failed', kind: 'report' });
  expect(await rows()).toHaveLength(1);
  expect(await page.getByLabel('Kind').inputValue()).toBe('report');
  await page.getByLabel('Kind').selectOption('mail');
  await page.waitForURL('**/admin/jobs?status=failed&kind=mail');
  await page.getByText('No job matches.').waitFor();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await page.waitForURL('**/admin/jobs');
  await expect.poll(rows).toHaveLength(5);
  await page.keyboard.press('/');
  await page.keyboard.type('harbour');
  await expect.poll(rows).toHaveLength(2);
});

it('reads every fifteen seconds while somebody looks', async () => {
  await stopClock(here.page);
  const queue = await open();
  expect(queue.asked).toHaveLength(1);
  await here.page.clock.runFor(14_000);
  expect(queue.asked).toHaveLength(1);
  await here.page.clock.runFor(1_500);
  await expect.poll(() => queue.asked.length).toBe(2);
  await here.page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
  });
  await here.page.clock.runFor(30_000);
  expect(queue.asked).toHaveLength(2);
});

it('is reached and walked by keys', async () => {
  const { page } = here;
  await new Queue().serve(page);
  await go(page, '/');
  await chord(page, 'gj');
  await page.waitForURL('**/admin/jobs');
  await page.waitForSelector('[data-row]');
  await page.keyboard.press(']');
  await page.keyboard.press('Enter');
  expect(await page.locator('aside h2').innerText()).toBe('Mail invite to nadia@example.com');
  await page.keyboard.press(']');
  expect(await page.locator('aside h2').innerText()).toBe('Mail alert 01JCQ3');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('queue');
  expect(await page.locator('[role="option"][aria-selected="true"]').innerText()).toContain('Go to Jobs');
});

it('stands in the rail, and is found where people guess it', async () => {
  const { page } = here;
  await new Queue().serve(page);
  await go(page, '/jobs?status=failed');
  await page.waitForURL('**/admin/jobs?status=failed');
  const rail = page.getByRole('navigation', { name: 'Main' });
  const names = await rail.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')));
  expect(names).toEqual(['Now', 'Services', 'Graph', 'Journeys', 'Fleet', 'Reports', 'Jobs', 'Admin', 'System', 'Account']);
  expect(await rail.locator('[aria-current]').evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')))).toEqual(['Jobs']);
});

it('has room for every word of the rail on a phone', async () => {
  const { page } = here;
  await new Queue().serve(page);
  for (const width of [390, 360]) {
    await page.setViewportSize({ width, height: 844 });
    await go(page, '/admin/jobs');
    const cut = await page
      .locator('nav.rail .label')
      .evaluateAll((labels) => labels.filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent));
    expect(cut).toEqual([]);
  }
});
