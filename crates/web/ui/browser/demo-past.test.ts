import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, expectNoOverflow, go, keep, leave, switchTo, THEMES } from './harness';
import { openDemo, visitEach } from './stage';

/** In the middle of the first incident, which stands still, with a day behind it. */
const stage = openDemo('--start-at', '50', '--hold', '--seed', '7');
const here = visitEach(stage);

/** Everybody is polled within some seconds, on a busy machine within this. */
const NOTICED_MS = 60_000;
const CAUSE = 'PostgreSQL main';
const NODE = 'external%3Apostgresql%20main';
/** Of what is said of a mark: the cause and how bad it was. */
const SAID = /^(?:\d+ incidents, the first: )?Incident .*?(?:\d\d:\d\d(?::\d\d)?), (?<cause>.+?) (?<status>down|degraded)(?:, |$)/;

interface Told {
  readonly nodes: readonly { readonly name: string; readonly status: string }[];
  readonly root_causes: readonly { readonly nodes: readonly { readonly name: string }[] }[];
}

const lane = (page: Page) => page.getByRole('toolbar', { name: 'Incidents' });
const marks = (page: Page) => lane(page).getByRole('button');
const scrubber = (page: Page) => page.getByRole('slider', { name: 'The moment that is shown' });
const panel = (page: Page) => page.locator('aside');
const atOf = (page: Page) => new URL(page.url()).searchParams.get('at');
const nameOf = async (page: Page, place: number) => (await marks(page).nth(place).getAttribute('aria-label')) ?? '';
const causeOf = (name: string) => SAID.exec(name)?.groups ?? {};

/** The graph of a moment, as the server tells it. */
function graphAt(time: number): Promise<Told> {
  const at = encodeURIComponent(new Date(time).toISOString());
  return stage.asAdmin(async (api) => (await (await api.get(`/api/graph?at=${at}`)).json()) as Told);
}

const causesAt = async (time: number) => (await graphAt(time)).root_causes.flatMap(({ nodes }) => nodes.map(({ name }) => name));

async function open(page: Page): Promise<number> {
  await go(page, '/graph?range=24h');
  await page.waitForSelector('[data-drawn]');
  // The running incident is the last one.
  await marks(page).last().and(page.locator('[aria-label*="so far"]')).waitFor();
  return marks(page).count();
}

beforeAll(async () => {
  const first = await stage.visit();
  await go(first.page, '/');
  // Everybody has noticed.
  await first.page.getByRole('link', { name: '11 affected' }).waitFor({ timeout: NOTICED_MS });
  await leave(first);
}, 2 * NOTICED_MS);

describe('the marks of a day', () => {
  it('stand where each incident began, apart from each other, and lead to its cause', async () => {
    const { page } = here;
    const count = await open(page);
    expect(count).toBeGreaterThanOrEqual(6);
    for (let place = 0; place < count; place += 1) {
      const name = await nameOf(page, place);
      const { cause = '', status = '' } = causeOf(name);
      expect(['down', 'degraded'], name).toContain(status);
      await marks(page).nth(place).click();
      await page.waitForURL(/[?&]at=/);
      await expect.poll(() => marks(page).nth(place).getAttribute('aria-current')).toBe('true');
      await expect.poll(async () => page.getByText('You look at').locator('xpath=..').innerText()).toContain(cause);
      const seen = Date.parse(atOf(page) ?? '');
      expect(await causesAt(seen), name).toContain(cause);
      expect(await causesAt(seen - 1), name).not.toContain(cause);
      expect(await scrubber(page).getAttribute('aria-valuetext')).toContain(cause);
    }
  });

  it('tell what only degraded from what was down, by their glyphs', async () => {
    const { page } = here;
    const count = await open(page);
    const found: Record<string, number> = { down: 0, degraded: 0 };
    for (let place = 0; place < count; place += 1) {
      const mark = marks(page).nth(place);
      const status = (await mark.getAttribute('data-mark')) ?? '';
      expect(await mark.locator(`svg.${status}`).count()).toBe(1);
      found[status] = (found[status] ?? 0) + 1;
      if (causeOf(await nameOf(page, place))['status'] === 'down') expect(status).toBe('down');
    }
    expect(found['degraded']).toBeGreaterThan(0);
    expect(found['down']).toBeGreaterThan(0);
  });

  it('are all reached by the keys for the one before and the one after', async () => {
    const { page } = here;
    await open(page);
    await scrubber(page).focus();
    const walk = async (key: string, says: string) => {
      const moments: string[] = [];
      while ((await page.getByRole('button', { name: says }).count()) === 0 && moments.length < 40) {
        const before = atOf(page);
        await page.keyboard.press(key);
        await expect.poll(() => atOf(page)).not.toBe(before);
        moments.push(atOf(page) ?? '');
      }
      return moments;
    };
    const back = await walk('PageDown', 'No earlier incident here');
    const counts = await Promise.all((await marks(page).all()).map(async (mark) => Number((await mark.innerText()) || '1')));
    expect(back.length).toBe(counts.reduce((sum, one) => sum + one, 0));
    const on = await walk('PageUp', 'No later incident here');
    expect(on).toEqual(back.slice(0, -1).reverse());
  });

  it('become one that says how many where they have no room, and lead to the first', async () => {
    const { page } = here;
    await page.setViewportSize({ width: 390, height: 844 });
    await go(page, '/graph?range=7d');
    // A day has several incidents, and little room in a week.
    const together = page.locator('[aria-label*=" incidents, the first: "]').first();
    await together.waitFor();
    const { cause = '' } = causeOf((await together.getAttribute('aria-label')) ?? '');
    await together.click();
    await page.waitForURL(/[?&]at=/);
    const seen = Date.parse(atOf(page) ?? '');
    expect(await causesAt(seen)).toContain(cause);
    await page.getByRole('button', { name: 'No earlier incident here' }).waitFor();
    await together.click();
    await expect.poll(() => Date.parse(atOf(page) ?? '')).toBeGreaterThan(seen);
    await keep(page, 'graph-marks-narrow');
    await expectNoOverflow(page, 'marks, narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('stay to be seen and pressed where the handle stands, and are walked by arrows', async () => {
    const { page } = here;
    await open(page);
    const last = marks(page).last();
    await last.click();
    await page.waitForURL(/[?&]at=/);
    const [mark, track] = [await last.boundingBox(), await scrubber(page).boundingBox()];
    if (mark === null || track === null) throw new Error('both are on the page');
    expect(mark.y + mark.height).toBeLessThanOrEqual(track.y);
    const isOnTop = await last.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });
    expect(isOnTop).toBe(true);
    const name = await nameOf(page, (await marks(page).count()) - 2);
    await last.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(name);
    await page.keyboard.press('Enter');
    await expect.poll(() => scrubber(page).getAttribute('aria-valuetext')).toContain(causeOf(name)['cause']);
    expect(await lane(page).locator('[tabindex="0"]').count()).toBe(1);
  });

  it('are soon come to by play, which skips what is still', async () => {
    const { page } = here;
    await open(page);
    await scrubber(page).press('Home');
    const shownAt = async () => Number(await scrubber(page).getAttribute('aria-valuenow'));
    const begun = await shownAt();
    await page.getByRole('button', { name: 'Play ×10, skipping ahead where nothing changes' }).click();
    // At ×10 alone this would take six minutes.
    await expect.poll(shownAt, { timeout: 15_000 }).toBeGreaterThan(begun + 3_600);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('You look at').waitFor();
  });

  it('are clean and accessible in both themes', async () => {
    const { page } = here;
    await open(page);
    await marks(page).first().click();
    await page.waitForURL(/[?&]at=/);
    for (const theme of THEMES) {
      await switchTo(page, theme);
      await keep(page, `graph-marks-${theme}`);
      await expectAccessible(page, `marks, ${theme}`);
    }
  });
});

describe('the panel of a moment', () => {
  /** When the cause of today failed before, an hour ago or more. */
  async function before(page: Page): Promise<string> {
    const count = await open(page);
    for (let place = 0; place < count - 1; place += 1) {
      if (!(await nameOf(page, place)).includes(CAUSE)) continue;
      await marks(page).nth(place).click();
      await page.waitForURL(/[?&]at=/);
      // A little later everybody has noticed.
      return encodeURIComponent(new Date(Date.parse(atOf(page) ?? '') + 3 * 60_000).toISOString());
    }
    throw new Error('it failed in the past of the demo');
  }

  it('tells of a thing what was wrong, whom it hurt, what breaks and whom to ask', async () => {
    const { page } = here;
    const at = await before(page);
    await go(page, `/graph?range=24h&at=${at}&row=${NODE}&inspector=open`);
    await panel(page).getByText(/was (down|degraded)/).first().waitFor();
    const errors = panel(page).getByRole('list', { name: 'What is wrong' });
    await errors.getByText(/said /).first().waitFor();
    expect((await errors.innerText()).length).toBeGreaterThan(20);
    await panel(page).getByText('Nobody can order, pay or sign in').waitFor();
    await panel(page).getByText('#platform-oncall').waitFor();
    await panel(page).getByText('as of today').waitFor();
    await panel(page).getByRole('heading', { name: /^Whom it hurt/ }).waitFor();
    for (const theme of THEMES) {
      await switchTo(page, theme);
      await keep(page, `graph-past-panel-${theme}`);
      await expectAccessible(page, `the panel of a moment, ${theme}`);
    }
    await panel(page).getByRole('link', { name: 'Open the page' }).click();
    await page.waitForURL('**/graph/thing?*');
  });

  it('tells of a service what it said was wrong', async () => {
    const { page } = here;
    const at = await before(page);
    const id = await stage.asAdmin(async (api) => (await api.list<{ id: string }>('/api/services?q=Catalog'))[0]?.id ?? '');
    await go(page, `/graph?range=24h&at=${at}&row=${id}&inspector=open`);
    await panel(page).getByText(/was (down|degraded)/).first().waitFor();
    const said = panel(page).getByRole('list', { name: 'What it said was wrong' });
    await said.getByText(CAUSE).waitFor();
    await panel(page).getByText('Because of').waitFor();
  });
});

it('the page of a thing has its history: lanes by who reported it, and what changed with its errors', async () => {
  const { page } = here;
  await go(page, `/graph/thing?node=${NODE}&range=24h`);
  const lanes = page.getByRole('slider', { name: 'Health over time' });
  await lanes.waitFor();
  await page.getByText('All together', { exact: true }).waitFor();
  await lanes.focus();
  // What happened in the last seconds is read a little later.
  await expect.poll(async () => {
    await page.keyboard.press('End');
    return lanes.getAttribute('aria-valuetext');
  }).toMatch(/^All together: (down|degraded) for .* until now$/);
  const changes = page.getByRole('table', { name: 'What changed, newest first' });
  const rows = changes.getByRole('row').filter({ hasText: /→\s*(down|degraded)/ });
  await rows.first().waitFor();
  await expect.poll(async () => (await rows.first().innerText()).length).toBeGreaterThan(30);
  await page.getByRole('link', { name: '7d', exact: true }).click();
  await page.waitForURL(/range=7d/);
  await rows.first().waitFor();
  for (const theme of THEMES) {
    await switchTo(page, theme);
    await keep(page, `thing-history-${theme}`);
    await expectAccessible(page, `history of a thing, ${theme}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await keep(page, 'thing-history-narrow');
  await expectNoOverflow(page, 'history of a thing, narrow');
  await page.setViewportSize({ width: 1280, height: 800 });
});
