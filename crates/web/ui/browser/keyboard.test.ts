import { expect, it } from 'vitest';
import { chord, go } from './harness';
import { openStage, visitEach } from './stage';

const stage = openStage();
const here = visitEach(stage);

const focused = () =>
  here.page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('data-row') ?? element?.id ?? element?.tagName ?? '';
  });
const press = async (...keys: string[]) => {
  for (const key of keys) await here.page.keyboard.press(key);
};
const address = () => new URL(here.page.url()).pathname + new URL(here.page.url()).search;

it('walks the whole dashboard without a mouse', async () => {
  await go(here.page, '/');
  await press('Tab');
  const skip = here.page.locator('a.skip');
  expect(await skip.evaluate((link) => getComputedStyle(link).clipPath)).toBe('none');
  await press('Enter');
  expect(await focused()).toBe('main');

  await chord(here.page, 'gy');
  await here.page.waitForURL('**/system');
  expect(await here.page.locator('h1').innerText()).toBe('System');
  await here.page.waitForSelector('[data-row="runtime"]');

  await press('/');
  await here.page.keyboard.type('database');
  await here.page.waitForURL('**/system?filter=database');
  await here.page.waitForSelector('[data-row="runtime"]', { state: 'detached' });
  await press('Enter');
  expect(await focused()).toBe('database');

  await press('Enter');
  await here.page.waitForSelector('aside');
  expect(await here.page.locator('aside h2').innerText()).toBe('database');
  await press('Escape');
  await here.page.waitForSelector('aside', { state: 'detached' });
  expect(await focused()).toBe('database');

  await chord(here.page, 'gn');
  await here.page.waitForURL(`${stage.origin}/`);
});

it('walks the rows by brackets, and the inspector follows', async () => {
  await go(here.page, '/system');
  await here.page.waitForSelector('[data-row]');
  const rows = await here.page
    .locator('[data-row]')
    .evaluateAll((found) => found.map((row) => row.getAttribute('data-row') ?? ''));
  const [first = '', second = ''] = rows;
  await press(']');
  expect(await focused()).toBe(first);
  await press('Space');
  await here.page.waitForSelector('aside');
  await press(']');
  expect(await here.page.locator('aside h2').innerText()).toBe(second);
  await press('[');
  await expect.poll(address).toBe(`/system?row=${first}&inspector=open`);
  for (let step = 0; step <= rows.length; step += 1) await press(']');
  expect(await focused()).toBe(rows.at(-1));
});

it('takes the focus along where the inspector covers the list', async () => {
  await here.page.setViewportSize({ width: 375, height: 720 });
  await go(here.page, '/system');
  await here.page.locator('[data-row="database"]').press('Enter');
  await here.page.waitForSelector('aside');
  expect(await here.page.locator('main').getAttribute('inert')).not.toBeNull();
  expect(await here.page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Close');
  await press('Enter');
  await here.page.waitForSelector('aside', { state: 'detached' });
  expect(await focused()).toBe('database');
});

it('takes keys as text while somebody types', async () => {
  await go(here.page, '/system');
  await press('/');
  await here.page.keyboard.type('g?n[');
  expect(await here.page.locator('[data-filter]').inputValue()).toBe('g?n[');
  expect(await here.page.locator('dialog').count()).toBe(0);
  expect(await here.page.locator('main').innerText()).toContain('No check matches');
});

it('goes anywhere by the palette, and gives the focus back', async () => {
  await go(here.page, '/system');
  await here.page.waitForSelector('[data-row]');
  await press(']');
  await press('Control+k');
  await here.page.waitForSelector('dialog[open]');
  await press('Escape');
  await here.page.waitForSelector('dialog', { state: 'detached' });
  expect(await focused()).toBe('database');

  await press('Control+k');
  await here.page.keyboard.type('now');
  const chosen = here.page.locator('[role="option"][aria-selected="true"]');
  expect(await chosen.innerText()).toContain('Go to Now');
  await press('Enter');
  await here.page.waitForURL(`${stage.origin}/`);

  await press('Control+k');
  await press('ArrowUp');
  expect(await chosen.innerText()).toContain('Open readiness');
  await here.page.keyboard.type('keys');
  await press('Enter');
  await here.page.waitForSelector('dialog[aria-label="Keys and legend"]');
  await press('Escape', '?');
  await here.page.waitForSelector('dialog[aria-label="Keys and legend"]');
  await here.page.getByRole('button', { name: 'Close' }).click();
  await here.page.waitForSelector('dialog', { state: 'detached' });
});

it('keeps the focus inside an open dialog', async () => {
  await go(here.page, '/');
  await press('?');
  await here.page.waitForSelector('dialog[open]');
  for (let step = 0; step < 8; step += 1) {
    await press('Tab');
    const inside = await here.page.evaluate(() => {
      const element = document.activeElement;
      return element === document.body || element?.closest('dialog') !== null;
    });
    expect(inside).toBe(true);
  }
});

it('switches theme and density by key, and remembers', async () => {
  await go(here.page, '/');
  const root = here.page.locator('html');
  await press('t', 't');
  expect(await root.getAttribute('data-theme')).toBe('dark');
  await press('d');
  await here.page.reload();
  expect(await root.getAttribute('data-theme')).toBe('dark');
  expect(await root.getAttribute('data-density')).toBe('compact');
});
