import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectIsolated, expectPlain } from './bidi';
import { expectNoOverflow, go, keep, type Visit } from './harness';
import { openOwnStage } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const watched = watch(stage);

/** One word of 500 letters, Arabic, a family of one glyph, and a script that would rename the page. */
const LONG = 'x'.repeat(500);
const ARABIC = 'خدمة المدفوعات (2)';
const FAMILY = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466} \u{1F680}';
const TURNED = 'invoice\u202Egnp.exe';
const SCRIPT = '<script>document.title="taken"</script><img src=x onerror="document.title=\'taken\'">';

const HEIGHT = 800;
/** The last one is what a page begins with. */
const WIDTHS = [360, 640, 1_280];
const ids: Record<string, string> = {};

const ill = (name: string, more: object = {}) => ({ name, healthy: false, errorMessage: SCRIPT, ...more });
const told = { impact: `${ARABIC}: ${LONG}`, description: SCRIPT, contact: { [ARABIC]: FAMILY, team: LONG } };

beforeAll(async () => {
  const { upstream } = watched;
  ids['long'] = await watched.add(LONG.slice(0, 100), upstream.at('/long', [ill(LONG), ill(ARABIC, told), ill(TURNED)]), { team: ARABIC });
  ids['arabic'] = await watched.add(ARABIC, upstream.at('/arabic', [ill(FAMILY), ill(SCRIPT, { errorMessage: ARABIC.repeat(9) })]), { team: FAMILY });
  ids['family'] = await watched.add(FAMILY, upstream.at('/family', [{ name: ARABIC, healthy: true }, { name: LONG, healthy: true }]), { team: LONG.slice(0, 60) });
  ids['script'] = await watched.add(SCRIPT, upstream.at('/script', 503), { team: '<b>team</b>' });
});

/** What is opened, and what shows that it is there. */
const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  now: async (page) => {
    await go(page, '/');
    await page.getByRole('article').first().waitFor();
  },
  activity: async (page) => {
    await go(page, '/activity');
    await page.getByText('Unstable').waitFor();
    await page.waitForSelector('[data-row]');
  },
  services: (page) => rows(page, '/services'),
  'services-panel': async (page) => {
    await rows(page, `/services?row=${ids['arabic'] ?? ''}&inspector=open`);
    await page.locator('aside').getByText('Endpoint').waitFor();
  },
  service: async (page) => {
    await rows(page, `/services/${ids['long'] ?? ''}`);
    await page.locator('[data-row]').filter({ hasText: 'invoice\uFFFDgnp.exe' }).waitFor();
  },
  'service-dependency': async (page) => {
    await rows(page, `/services/${ids['long'] ?? ''}`);
    await page.locator('[data-row]').filter({ hasText: ARABIC }).press('Enter');
    await page.locator('aside').getByText('Error history').waitFor();
  },
  'service-delete': async (page) => {
    await rows(page, `/services/${ids['arabic'] ?? ''}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForSelector('dialog[open]');
  },
  aliases: async (page) => {
    await go(page, '/services/aliases');
    // Names of services stand for themselves, and are not asked about.
    await page.getByRole('row').filter({ hasText: 'invoice\uFFFDgnp.exe' }).first().waitFor();
  },
  graph: (page) => drawn(page, '/graph'),
  'graph-panel': async (page) => {
    await drawn(page, `/graph?row=${ids['arabic'] ?? ''}&inspector=open`);
    await page.locator('aside').getByText('Whom it').waitFor();
  },
  'graph-list': (page) => rows(page, '/graph?view=list'),
  wallboard: async (page) => {
    await go(page, '/?board');
    await page.getByRole('listitem').first().waitFor();
  },
  palette: async (page) => {
    await go(page, '/');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('خدمة');
    await page.getByRole('option', { name: new RegExp('خدمة') }).first().waitFor();
  },
};

async function rows(page: Page, path: string): Promise<void> {
  await go(page, path);
  await page.waitForSelector('[data-row]');
}

async function drawn(page: Page, path: string): Promise<void> {
  await go(page, path);
  await page.waitForSelector('[data-drawn]');
}

/** Where the frame of the page stands: whatever it shows, these do not move. */
function frame(page: Page): Promise<unknown> {
  return page.evaluate(() =>
    ['header', 'nav.rail', '[data-light]'].map((selector) => {
      const box = document.querySelector(selector)?.getBoundingClientRect();
      return box && { selector, top: box.top, right: box.right, height: box.height };
    }),
  );
}

let current: Visit | undefined;
let usual: unknown;
beforeAll(async () => {
  current = await stage.visit({ viewport: { width: 1_280, height: HEIGHT } });
  await go(current.page, '/system');
  usual = await frame(current.page);
});
afterAll(() => current?.page.context().close());

it.each(Object.entries(VIEWS))('%s shows odd names as text, and nothing else moves', async (name, open) => {
  if (!current) throw new Error('a page opens before the first view');
  const { page, complaints } = current;
  await open(page);
  // The wallboard has no frame.
  if (name !== 'wallboard') expect(await frame(page)).toEqual(usual);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await expectNoOverflow(page, `${name} at ${String(width)}`);
    await keep(page, `odd-${name}-${String(width)}`);
  }
  await expectIsolated(page, name);
  await expectPlain(page, name);
  expect(await page.title()).not.toBe('taken');
  expect(await page.locator('img, body script:not([src])').count()).toBe(0);
  expect(complaints.splice(0)).toEqual([]);
});
