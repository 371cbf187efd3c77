import { expect, it } from 'vitest';
import { go, leave } from './harness';
import { openStage, visitEach } from './stage';

const stage = openStage();
const here = visitEach(stage);

it('tells what is set, and where it comes from', async () => {
  const { page } = here;
  await go(page, '/admin/settings');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('http.listen').getByText('--listen').waitFor();
  await row('poll.cycle_ms').getByText('default').waitFor();
  const headings = await page.getByRole('main').getByRole('heading', { level: 2 }).allInnerTexts();
  expect(headings).toContain('Fleet');
  expect(headings.filter((heading) => !/^\p{Lu}/u.test(heading))).toEqual([]);
  await page.keyboard.press('/');
  await page.keyboard.type('MAINSTAY_LISTEN');
  await page.waitForURL(/filter=MAINSTAY_LISTEN/);
  await expect.poll(() => page.locator('[data-row]').count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  const panel = page.locator('aside');
  await panel.getByText('hold after a restart').waitFor();
  expect(await panel.locator('[data-copy]').innerText()).toMatch(/^http\.listen = "/);
});

it('is for admins', async () => {
  const editor = await stage.visit({}, await stage.newPerson('settings-editor@example.com', 'editor'));
  await go(editor.page, '/admin/settings');
  await editor.page.getByText('This page is for admins.').waitFor();
  await leave(editor);
});
