import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectNoOverflow, go } from './harness';
import { openStage, visitEach } from './stage';

const stage = openStage();
const here = visitEach(stage);

const ODD = ['x'.repeat(500), 'خدمة المدفوعات '.repeat(6), '\u{1F680} '.repeat(30)];
const id = (at: number) => `019a8b3c-0000-7000-8000-${String(at).padStart(12, '0')}`;

/** A board of so many services answers in the server's place. */
async function serve(page: Page, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, at) => ({
    id: id(at),
    name: ODD[at] ?? `worker ${String(at)}`,
    team: at % 2 === 0 ? 'Even' : null,
    is_active: true,
    poll_interval_ms: 30_000,
    status: at % 100 === 99 ? 'down' : 'healthy',
    status_since: '2026-01-01T00:00:00.000Z',
    breaker: 'closed',
    p95_ms: at,
    has_warnings: false,
    cause: null,
    dependency_counts: { healthy: 1, degraded: 0, down: 0, unknown: 0, skipped: 0 },
  }));
  const strip = { cells: Array.from({ length: 60 }, () => 'healthy'), p95_ms: Array.from({ length: 24 }, () => 7) };
  const times = { from: '2026-01-01T00:00:00.000Z', hours_from: '2026-01-01T00:00:00.000Z', cell_ms: 1_440_000 };
  await page.route('**/api/board', (route) => route.fulfill({ json: { items, is_cut: false } }));
  await page.route('**/api/board/strips?*', (route) => {
    const ids = new URL(route.request().url()).searchParams.get('ids')?.split(',') ?? [];
    return route.fulfill({ json: { ...times, items: ids.map((of) => ({ id: of, ...strip })) } });
  });
}

const focused = () =>
  here.page.evaluate(() => Number(document.activeElement?.getAttribute('aria-rowindex') ?? 0));

it('draws few of 5 000 rows, and walks all of them by keys', async () => {
  const { page } = here;
  // The server knows none of them, which the inspector finds out.
  here.mayRefuse(404);
  await serve(page, 5_000);
  await go(page, '/services?sort=name');
  await page.waitForSelector('[data-row]');
  expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('5001');
  expect(await page.locator('[data-row]').count()).toBeLessThan(80);
  await page.keyboard.press(']');
  expect(await focused()).toBe(2);
  await page.keyboard.press('End');
  await expect.poll(focused).toBe(5_001);
  await page.keyboard.press('PageUp');
  await expect.poll(focused).toBeLessThan(5_000);
  await page.keyboard.press('Home');
  await expect.poll(focused).toBe(2);
  await page.keyboard.press('Enter');
  await page.waitForSelector('aside');
  await page.keyboard.press('Escape');
  await page.waitForSelector('aside', { state: 'detached' });
  expect(await focused()).toBe(2);
  // The row that has the focus keeps it, however far the list is scrolled.
  await page.getByRole('grid').evaluate((grid) => (grid.scrollTop = 60_000));
  await page.locator('[data-row]').filter({ hasText: 'worker 21' }).first().waitFor();
  await expect.poll(focused).toBe(2);
});

it('follows each key of a filter over 5 000', async () => {
  const { page } = here;
  await serve(page, 5_000);
  await go(page, '/services');
  await page.waitForSelector('[data-row]');
  await page.keyboard.press('/');
  await page.keyboard.type('status:down p95>4800');
  await page.locator('[data-count]').getByText('2 of').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('worker 4999');
  await page.getByRole('option', { name: /^worker 4999/ }).waitFor();
});

it.each([[1], [3]])('fits with %i of odd names', async (count) => {
  const { page } = here;
  await serve(page, count);
  for (const width of [360, 640, 1_280]) {
    await page.setViewportSize({ width, height: 720 });
    await go(page, '/services');
    await page.waitForSelector('[data-row]');
    await expectNoOverflow(page, String(width));
  }
});
