import { expect, it } from 'vitest';
import { go } from './harness';
import { openStage, visitEach } from './stage';

const stage = openStage();
const here = visitEach(stage);

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((given) => (resolve = given));
  return { promise, resolve: () => { resolve(); } };
}

it('restores the whole view from its address', async () => {
  const { page } = here;
  await go(page, '/system');
  await page.locator('[data-filter]').fill('data');
  await page.locator('[data-row="database"]').click();
  await page.waitForSelector('aside');
  const url = page.url();
  expect(url).toBe(`${stage.origin}/system?filter=data&row=database&inspector=open`);
  await page.reload();
  await page.waitForSelector('aside');
  expect(page.url()).toBe(url);
  expect(await page.locator('[data-filter]').inputValue()).toBe('data');
  expect(await page.locator('[data-count]').innerText()).toMatch(/^1 of \d+ checks$/);
  await page.goBack();
  await page.waitForSelector('aside', { state: 'detached' });
  expect(await page.locator('[data-filter]').inputValue()).toBe('data');
});

it('has a quiet page for an address that leads nowhere', async () => {
  await go(here.page, '/no/such/page');
  await here.page.getByRole('link', { name: 'Go to Now' }).click();
  await here.page.waitForURL(`${stage.origin}/`);
});

it('works where storage is denied', async () => {
  const { page } = here;
  await page.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', {
      get() {
        throw new DOMException('denied', 'SecurityError');
      },
    });
  });
  await go(page, '/');
  await page.keyboard.press('t');
  await page.keyboard.press('t');
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
});

it('copies without a clipboard, as on plain HTTP', async () => {
  const { page } = here;
  await page.addInitScript(() => {
    Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined });
  });
  await go(page, '/');
  const copy = page.getByRole('button', { name: 'Copy the command' }).first();
  await copy.click();
  await page.getByText('Command copied').first().waitFor();
  await page.evaluate(() => (document.execCommand = () => false));
  await copy.click();
  expect(await page.evaluate(() => getSelection()?.toString())).toContain(
    `${stage.origin}/api/services -d '{"name": "Mainstay"`,
  );
});

it('shows bars of the final size, then the data, and moves nothing', async () => {
  const { page } = here;
  const { promise: held, resolve: release } = deferred();
  await page.route('**/api/system', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/system');
  const box = () => page.locator('tbody tr').first().boundingBox();
  await page.waitForSelector('table[aria-busy="true"]');
  const before = await box();
  release();
  await page.waitForSelector('[data-row]');
  expect(await box()).toEqual(before);
});

it("shows the server's words when it refuses, and tries again", async () => {
  const { page, mayRefuse } = here;
  mayRefuse(503);
  let refuse = true;
  await page.route('**/api/system', (route) => {
    if (!refuse) return route.continue();
    const body = { error: 'Database is away', code: 'away', detail: 'Start it.', request_id: 'r7' };
    return route.fulfill({ status: 503, json: body });
  });
  await page.goto('/system');
  await page.getByRole('heading', { name: 'Database is away' }).waitFor();
  expect(await page.locator('main').innerText()).toContain('Start it.');
  expect(await page.locator('main').innerText()).toContain('r7');
  refuse = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForSelector('[data-row]');
});

it.each(['no-preference', 'reduce'] as const)(
  'tells a change aloud and pulses once, with motion: %s',
  async (reducedMotion) => {
    const { page } = here;
    await page.emulateMedia({ reducedMotion });
    let status = 'healthy';
    await page.route('**/api/system', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { checks: { name: string; status: string }[] };
      for (const check of body.checks) if (check.name === 'database') check.status = status;
      await route.fulfill({ response: answer, json: body });
    });
    await page.addInitScript(() => {
      const animate = Element.prototype.animate;
      Element.prototype.animate = function (...given) {
        document.documentElement.dataset['pulses'] = JSON.stringify(given[1]);
        return animate.apply(this, given);
      };
    });
    await go(page, '/system');
    status = 'down';
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await page.waitForFunction(() =>
      document.querySelector('[data-voice]')?.textContent?.includes('database is down'),
    );
    const pulses = () => page.locator('html').getAttribute('data-pulses');
    if (reducedMotion === 'reduce') expect(await pulses()).toBeNull();
    else await expect.poll(pulses).toContain('600');
  },
);
