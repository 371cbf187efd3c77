import { expect, it } from 'vitest';
import { leave, pauseClock, untilShown } from './harness';
import { Listener, type Heard } from './listener';
import { openDemo } from './stage';

/** The story from its beginning: calm, then the shared database slows, fails, and comes back. */
const stage = openDemo('--fast', '--cue', '--seed', '7');

const CALM = 'All 14 services are healthy.';
const CAUSE = 'PostgreSQL main';
/** What services call it; see `mainstay demo`. */
const NAMES = ['db', 'orders-db', 'postgres-main', 'PaymentsDb', 'users-db'];
const SOON_MS = 2_000;
/** Seconds of the story, in a hurry: the database is slow, is down, and all is well again. */
const TOLD = { degraded: 15, down: 40, over: 80 } as const;
/** So long the story may take from one to the next on a busy machine, with a poll that notices. */
const NEXT_MS = 90_000;

const turn = (current: string) => ({ type, event }: Heard) =>
  type === 'dependency:status' && NAMES.includes(String(event['dependency_name'])) && event['current'] === current;

it('shows the incident as it happens, and that it is over, without being loaded again', { timeout: 4 * NEXT_MS }, async () => {
  const visit = await stage.visit();
  const listener = await new Listener().open(stage);
  const { page } = visit;
  const card = page.getByRole('article', { name: CAUSE });
  await page.clock.install();
  await page.goto('/');
  await page.getByText(CALM).waitFor();
  await page.waitForSelector('[data-light="live"]');
  await page.evaluate(() => (document.documentElement.dataset['same'] = 'yes'));

  // The page does nothing by itself but what an event makes it do.
  await pauseClock(page);
  for (const status of ['degraded', 'down'] as const) {
    stage.own.cue(TOLD[status]);
    await expect.poll(() => listener.heard.some(turn(status)), { timeout: NEXT_MS, message: status }).toBe(true);
    expect(await untilShown(card.getByText(status, { exact: true }), SOON_MS), status).toBeLessThan(SOON_MS);
  }
  await page.clock.resume();
  await expect.poll(async () => Number(/(\d+) services hurt/.exec(await card.innerText())?.[1]), { timeout: NEXT_MS }).toBeGreaterThan(8);
  await page.locator('[data-summary]').getByText('root cause').waitFor();

  stage.own.cue(TOLD.over);
  await page.getByText(CALM).waitFor({ timeout: NEXT_MS });
  expect(await page.getByRole('article').count()).toBe(0);
  await expect.poll(async () => (await page.locator('[data-summary]').innerText()).replace(/\s+/g, ' ')).toBe('No root cause 14 healthy');
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
