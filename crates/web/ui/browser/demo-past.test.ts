import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, expectNoOverflow, go, keep, leave, pauseClock, switchTo, THEMES } from './harness';
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

describe('who listens to the past', () => {
  const MOVES = 20;
  /** Play tells of itself at most once in five seconds. */
  const PLAYED_MS = 12_000;
  const AT_REST_MS = 1_000;

  /** What is told by an element from now on, each time it changes. */
  async function listenTo(page: Page, selector: string): Promise<() => Promise<string[]>> {
    await page.evaluate((selector) => {
      const heard: string[] = [];
      Object.assign(window, { heard });
      const region = document.querySelector(selector);
      if (region === null) throw new Error(`${selector} is on the page`);
      const note = () => heard.push(region.getAttribute('aria-valuetext') ?? region.textContent);
      const what = { childList: true, characterData: true, subtree: true, attributes: true, attributeFilter: ['aria-valuetext'] };
      new MutationObserver(note).observe(region, what);
    }, selector);
    return () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  }

  /** In the past, and time passes only as the test says. */
  async function stand(page: Page): Promise<void> {
    // A clock that the test moves runs ahead of the server's, which refuses what is still to come.
    here.mayRefuse(400);
    await page.clock.install();
    await open(page);
    await marks(page).first().click();
    await page.waitForURL(/[?&]at=/);
    await pauseClock(page);
    await page.clock.runFor(AT_REST_MS);
    await page.locator('[data-moment-told]').filter({ hasText: 'The graph is of' }).waitFor({ state: 'attached' });
  }

  it('is told of a moment once, where the hand that drags rests', async () => {
    const { page } = here;
    await stand(page);
    const heard = await listenTo(page, '[data-moment-told]');
    const box = await scrubber(page).boundingBox();
    if (box === null) throw new Error('the scrubber is on the page');
    await page.mouse.move(box.x + box.width / 2, box.y + 10);
    await page.mouse.down();
    for (let step = 1; step <= MOVES; step += 1) {
      await page.mouse.move(box.x + box.width / 2 - 5 * step, box.y + 10);
      await page.clock.runFor(16);
    }
    await page.mouse.up();
    expect(await heard()).toEqual([]);
    await page.clock.runFor(AT_REST_MS);
    await expect.poll(heard).toHaveLength(1);
    expect((await heard())[0]).toMatch(/^The graph is of .*\d\d:\d\d/);
    // It grows older, which is no news.
    await page.clock.runFor(5 * AT_REST_MS);
    expect(await heard()).toHaveLength(1);
  });

  it('is told nothing while it plays, and where it stopped', async () => {
    const { page } = here;
    await stand(page);
    const heard = await listenTo(page, '[data-moment-told]');
    await page.getByRole('button', { name: /^Play/ }).click();
    const before = await scrubber(page).getAttribute('aria-valuenow');
    await page.clock.runFor(PLAYED_MS);
    expect(await heard()).toEqual([]);
    expect(await scrubber(page).getAttribute('aria-valuenow')).not.toBe(before);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.clock.runFor(AT_REST_MS);
    await expect.poll(heard).toHaveLength(1);
  });

  it('hears from the slider that plays only now and then', async () => {
    const { page } = here;
    await stand(page);
    const heard = await listenTo(page, '[role="slider"]');
    await scrubber(page).press(' ');
    await page.clock.runFor(PLAYED_MS);
    expect((await heard()).length).toBeGreaterThan(0);
    expect((await heard()).length).toBeLessThanOrEqual(4);
  });
});

describe('a span in which more changed than is kept', () => {
  it('says from when on incidents are marked, and shows each moment before', async () => {
    const { page } = here;
    // As in a large house: the newest few are all that is kept.
    await page.route('**/api/graph/history?*', async (route) => {
      const address = new URL(route.request().url());
      address.searchParams.set('most', '60');
      await route.continue({ url: address.href });
    });
    await go(page, '/graph?range=24h');
    await page.waitForSelector('[data-drawn]');
    const why = page.getByText(/So much changed that incidents are marked only from/);
    await why.waitFor();
    expect(await scrubber(page).getAttribute('aria-describedby')).toBe(await why.getAttribute('id'));
    await page.getByRole('button', { name: /^Back to: Incident/ }).waitFor();
    for (const theme of THEMES) {
      await switchTo(page, theme);
      await keep(page, `graph-more-than-kept-${theme}`);
      await expectAccessible(page, `more than is kept, ${theme}`);
    }
    const begins = async () => Number(await scrubber(page).getAttribute('aria-valuemin'));
    const before = await begins();
    await scrubber(page).press('Home');
    await page.waitForURL(/[?&]at=/);
    await page.getByRole('button', { name: 'No earlier incident is marked' }).waitFor();
    // The beginning is looked at, and nothing else moves there.
    expect((await begins()) - before).toBeGreaterThanOrEqual(0);
    expect((await begins()) - before).toBeLessThan(60);
    await page.getByText('You look at').waitFor();
    await page.locator('[data-moment-told]').filter({ hasText: /^The graph is of/ }).waitFor({ state: 'attached' });
    await expect.poll(() => page.locator('[data-count]').innerText()).toMatch(/^\d+ nodes, \d+ edges/);
    await keep(page, 'graph-before-kept');
    await page.getByRole('button', { name: /^Play/ }).click();
    await page.getByText('The graph follows: it is of').waitFor();
    await keep(page, 'graph-before-kept-playing');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.setViewportSize({ width: 390, height: 844 });
    await keep(page, 'graph-more-than-kept-narrow');
    await expectNoOverflow(page, 'more than is kept, narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
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
