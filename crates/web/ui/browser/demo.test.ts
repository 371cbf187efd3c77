import { expect, it } from 'vitest';
import { leave } from './harness';
import { Listener, type Heard } from './listener';
import { openDemo } from './stage';

/** The story from its beginning: calm, then the shared database slows, fails, and comes back. */
const stage = openDemo('--fast', '--seed', '7');

const CALM = 'All 14 services are healthy.';
const CAUSE = 'PostgreSQL main';
/** What services call it; see `mainstay demo`. */
const NAMES = ['db', 'orders-db', 'postgres-main', 'PaymentsDb', 'users-db'];
const SOON_MS = 2_000;
/** The incident begins in the fifth second, is at its worst in the twentieth, and over in the eightieth. */
const BEGINS_MS = 30_000;
const ENDS_MS = 90_000;

const turn = (current: string) => ({ type, event }: Heard) =>
  type === 'dependency:status' && NAMES.includes(String(event['dependency_name'])) && event['current'] === current;

it('shows the incident as it happens, and that it is over, without being loaded again', { timeout: 150_000 }, async () => {
  const visit = await stage.visit();
  const listener = await new Listener().open(stage);
  const { page } = visit;
  const card = page.getByRole('article', { name: CAUSE });
  await page.goto('/');
  await page.getByText(CALM).waitFor();
  await page.waitForSelector('[data-light="live"]');
  await page.evaluate(() => (document.documentElement.dataset['same'] = 'yes'));

  for (const status of ['degraded', 'down']) {
    await card.getByText(status, { exact: true }).waitFor({ timeout: BEGINS_MS });
    const shown = Date.now();
    const told = listener.heard.find(turn(status));
    expect(told, status).toBeDefined();
    expect(shown - (told?.arrived ?? 0), status).toBeLessThan(SOON_MS);
  }
  await expect.poll(async () => Number(/(\d+) services hurt/.exec(await card.innerText())?.[1])).toBeGreaterThan(8);
  await page.locator('[data-summary]').getByText('root cause').waitFor();

  await page.getByText(CALM).waitFor({ timeout: ENDS_MS });
  expect(await page.getByRole('article').count()).toBe(0);
  expect((await page.locator('[data-summary]').innerText()).replace(/\s+/g, ' ')).toBe('No root cause 14 healthy');
  expect(await page.locator('html').getAttribute('data-same')).toBe('yes');
  listener.close();
  await leave(visit);
});

it('lets in by the link that it prints, once', async () => {
  const first = await stage.visitOutside();
  await first.page.goto(stage.own.link);
  await first.page.waitForURL(`${stage.origin}/`);
  await first.page.waitForSelector('[data-light="live"]');
  await leave(first);

  const second = await stage.visitOutside();
  second.mayRefuse(400);
  await second.page.goto(stage.own.link);
  await second.page.getByText('The link was used already').waitFor();
  await second.page.getByLabel('E-mail').waitFor();
  expect(new URL(second.page.url()).hash).toBe('');
  await leave(second);
});
