import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { go, look } from './harness';
import { openDemo, visitEach } from './stage';

/** The first incident from its beginning, and what comes after it. */
const stage = openDemo('--fast', '--cue', '--seed', '7');
const here = visitEach(stage);

const CAUSE = 'PostgreSQL main';
/**
 * Seconds of the story, in a hurry: the database is slow, is down and everybody has noticed, all is well again,
 * and the bank has failed. It stands still at each until the next.
 */
const TOLD = { degraded: 20, down: 37, over: 80, bank: 95 };
/** So long the story may take from one to the next on a busy machine, with the polls that notice. */
const NEXT_MS = 90_000;
/** On a calm day everybody answers in less. */
const CALM_MS = 100;
const DOWN = /PostgreSQL main healthy then → degraded is now → down 11 because of it: /;
const HEALTHY = /PostgreSQL main down then → degraded is now → healthy 11 more changed with it: /;

interface BoardLine {
  readonly name: string;
  readonly p95_ms: number | null;
}
interface Seen {
  readonly p95: number;
  readonly poll: number;
}

const card = (page: Page) => page.getByRole('article', { name: CAUSE });
const rows = (page: Page) => page.getByRole('region', { name: 'Last changes' }).getByRole('listitem');
const told = async (page: Page) => (await rows(page).allInnerTexts()).map(plain);
const plain = (text: string) => text.replace(/[⁦-⁩]/gu, '').replace(/\s+/g, ' ');

/** How long Ledger takes, which leans on the database. */
const took = (): Promise<Seen> =>
  stage.asAdmin(async (api) => {
    const board = await api.list<BoardLine>('/api/board');
    const [ledger] = await api.list<{ last_poll: { latency_ms: number } | null }>('/api/services?q=Ledger');
    return {
      p95: board.find(({ name }) => name === 'Ledger')?.p95_ms ?? 0,
      poll: ledger?.last_poll?.latency_ms ?? 0,
    };
  });

describe('an incident from its beginning', () => {
  let calm: Seen = { p95: 0, poll: 0 };
  beforeAll(async () => {
    // One poll that the machine held up is among the slowest until enough others have come.
    calm = await vi.waitUntil(async () => {
      const now = await took();
      return now.p95 > 0 && now.p95 < CALM_MS ? now : null;
    }, { timeout: NEXT_MS, interval: 250 });
  }, 2 * NEXT_MS);

  it('is told as it goes on, and nothing of it is rewritten', async () => {
    const { page } = here;
    await go(page, '/');
    stage.own.cue(TOLD.degraded);
    await card(page).getByText('degraded', { exact: true }).waitFor({ timeout: NEXT_MS });
    // Of what is only slow, nothing is said that holds when it is down.
    await card(page).getByText('If down', { exact: true }).waitFor();
    expect(await card(page).getByText('Impact', { exact: true }).count()).toBe(0);
    await expect.poll(async () => (await took()).poll, { timeout: NEXT_MS }).toBeGreaterThan(100);
    await expect.poll(async () => (await told(page))[0]).toContain(`${CAUSE} healthy is now → degraded`);
    const failing = await card(page).locator('time').first().getAttribute('datetime');
    await look(page, 'demo-degraded');

    stage.own.cue(TOLD.down);
    await card(page).getByText('down', { exact: true }).waitFor({ timeout: NEXT_MS });
    await card(page).getByText('Impact', { exact: true }).waitFor();
    const times = card(page).locator('.since time');
    await expect.poll(() => times.count()).toBe(2);
    expect(await times.nth(1).getAttribute('datetime')).toBe(failing);
    expect(await times.nth(1).innerText()).toMatch(/^failing for /);
    await expect.poll(async () => (await told(page))[0], { timeout: NEXT_MS }).toMatch(DOWN);
    await expect.poll(async () => (await took()).p95, { timeout: NEXT_MS }).toBeGreaterThan(4 * calm.p95);
    await look(page, 'demo-down');
  }, 4 * NEXT_MS);

  it('stands on every page since it began', async () => {
    const { page } = here;
    await go(page, '/?board');
    // Others name it as what they fail because of, and some of them were degraded before as well.
    const tile = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: CAUSE }) });
    await tile.getByText(/^failing /).waitFor();
    await look(page, 'demo-wall-down');
    await go(page, `/graph/thing?node=${encodeURIComponent('external:postgresql main')}`);
    await page.getByRole('main').getByText(/^failing for /).first().waitFor();
  });

  it('ends, and the moments of it and before it are all there', async () => {
    const { page } = here;
    await go(page, '/');
    stage.own.cue(TOLD.over);
    await card(page).waitFor({ state: 'detached', timeout: NEXT_MS });
    await expect.poll(() => rows(page).count()).toBe(10);
    await expect.poll(() => told(page), { timeout: NEXT_MS }).toEqual(
      expect.arrayContaining([expect.stringMatching(DOWN), expect.stringMatching(HEALTHY)]),
    );
    await look(page, 'demo-over');
    await expect.poll(async () => (await took()).poll, { timeout: NEXT_MS }).toBeLessThan(200);
    // The third party that fails next takes its own with it, and leaves the others where they belong.
    stage.own.cue(TOLD.bank);
    const bank = rows(page).filter({ hasText: 'Harbour Bank' });
    await expect.poll(async () => plain((await bank.allInnerTexts()).join(' ')), { timeout: NEXT_MS }).toMatch(/healthy is now → down 1 because of it: Payouts/);
    expect(await rows(page).count()).toBe(10);
    await look(page, 'demo-bank');
  }, 4 * NEXT_MS);
});

describe('the rail', () => {
  it('names what its signs lead to, at once by keys and soon under the hand', async () => {
    const { page } = here;
    await go(page, '/');
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Services', exact: true });
    const tip = link.locator('.tip');
    const seen = () => tip.evaluate((element) => [getComputedStyle(element).visibility, getComputedStyle(element).opacity].join());
    expect(await seen()).toBe('hidden,0');
    await link.hover();
    await expect.poll(seen, { interval: 20 }).toBe('visible,1');
    const slow = await tip.evaluate((element) => {
      const { transitionDelay, transitionDuration } = getComputedStyle(element);
      return Number.parseFloat(transitionDelay) + Number.parseFloat(transitionDuration);
    });
    expect(slow).toBeLessThanOrEqual(0.3);
    await page.mouse.move(600, 400);
    await expect.poll(seen).toBe('hidden,0');
    await link.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await expect.poll(seen, { interval: 20 }).toBe('visible,1');
    const [rail, box] = [await page.locator('nav.rail').boundingBox(), await tip.boundingBox()];
    expect(rail?.width).toBeLessThanOrEqual(49);
    expect(box?.x).toBeGreaterThan(48);
    await look(page, 'rail-tip');
  });
});

it('says in the settings who writes the reports of the demo', async () => {
  const settings = await stage.asAdmin((api) => api.list<{ key: string; value: string | null }>('/api/admin/settings'));
  const valueOf = (key: string) => settings.find((one) => one.key === key)?.value;
  expect(valueOf('llm.provider')).toBe('"openai"');
  expect(valueOf('llm.base_url')).toMatch(/^"http:\/\/127\.0\.0\.1:\d+\/v1"$/);
  expect(valueOf('llm.model')).toContain('stand-in');
});
