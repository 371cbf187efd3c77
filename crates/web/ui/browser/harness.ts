import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Where pictures are kept, when somebody wants to see them. */
const screenshots = process.env['MAINSTAY_SCREENSHOTS'];
/** Shorter than a test's own limit, so that a failure names what was waited for. */
const WAIT_LIMIT_MS = 15_000;
/** A page that was refused some times in a row tries again after this long at the latest, and a bit. */
export const BACK_MS = 40_000;
export type Theme = 'light' | 'dark';
export const THEMES: readonly [Theme, Theme] = ['light', 'dark'];
/** The last one is what a page goes on with. */
const SIZES = {
  narrow: { width: 360, height: 720 },
  // A window of 1280 by 800 at double zoom has this much room.
  zoomed: { width: 640, height: 400 },
  wide: { width: 1280, height: 800 },
};

/** A page of its own, and everything about it that must not happen. */
export interface Visit {
  readonly page: Page;
  readonly complaints: string[];
  /**
   * Says before it happens that the server may refuse with this status, which Chromium itself notes
   * as an error, at a time of its own.
   */
  readonly mayRefuse: (status: number) => void;
}

const REFUSAL = /the server responded with a status of (?<status>\d+)/;

export async function visit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ baseURL: origin, ...options });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  const refusals = new Set<number>();
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    const status = REFUSAL.exec(message.text())?.groups?.['status'];
    if (!refusals.has(Number(status))) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  context.on('request', (request) => {
    const host = new URL(request.url());
    if (host.protocol !== 'data:' && host.origin !== origin) complaints.push(request.url());
  });
  return { page, complaints, mayRefuse: (status) => refusals.add(status) };
}

export async function leave({ page, complaints }: Visit): Promise<void> {
  await page.context().close();
  expect(complaints).toEqual([]);
}

/** Goes to an address of the dashboard and waits until its data is there. */
export async function go(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.waitForSelector('[data-light="live"]');
}

/** Where a test's time begins when it stands still until the test moves it. */
const NOON = Date.parse('2026-01-01T12:00:00Z');

/**
 * Presses keys one after the other that mean something only together. In one go, and not one by one from here: the
 * page waits a moment only for the next one.
 */
export function chord(page: Page, keys: string): Promise<void> {
  return page.keyboard.type(keys);
}

/** Says whether the page has stayed, and was not loaded anew since. */
export async function markLoad(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate(() => Object.assign(window, { stillHere: true }));
  return () => page.evaluate(() => 'stillHere' in window);
}

/** Stops the page's clock before its first address, however slow the machine is. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install({ time: NOON });
  // It runs until it is stopped, and can't be stopped at a time that has passed.
  await page.clock.pauseAt(NOON + 60_000);
}

/** Stops the page's clock, which must be installed, so that nothing happens any more but what a test does. */
export async function pauseClock(page: Page): Promise<void> {
  // It can't be stopped at a time that has passed meanwhile, as on a machine that is busy.
  for (let tries = 1; ; tries += 1) {
    try {
      await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
      return;
    } catch (error) {
      if (tries === PAUSE_TRIES || !String(error).includes('past')) throw error;
    }
  }
}

const PAUSE_TRIES = 5;
/** For what the page asks the server for, between two seconds of a clock that a test moves. */
const ANSWER_MS = 30;
/** For some dozens of such seconds, each of which takes a busy machine a while. */
const TEXT_LIMIT_MS = 60_000;
/** A step of slow motion, and how long what comes from outside may take in each. */
const STEP_MS = 50;
const STEP_PATIENCE_MS = 400;

/**
 * Moves the page's clock second by second until an element has the text. Not in one go: what the
 * page asks the server for takes real time, in which a fake clock stands still.
 */
export async function untilText(page: Page, selector: string, text: RegExp): Promise<void> {
  const deadline = Date.now() + TEXT_LIMIT_MS;
  let last = '';
  while (Date.now() < deadline) {
    last = (await page.locator(selector).textContent()) ?? '';
    if (text.test(last)) return;
    await page.clock.runFor(1_000);
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  }
  throw new Error(`${selector} still says "${last}", not ${String(text)}`);
}

/**
 * Moves the page's clock, which must be paused, in slow motion until an element is there, and says how much of
 * its time that took: what the server and a busy machine take in between is not counted.
 */
export async function untilShown(element: Locator, limitMs: number): Promise<number> {
  for (let passed = 0; passed <= limitMs; passed += STEP_MS) {
    const shown = await element.waitFor({ timeout: STEP_PATIENCE_MS }).then(() => true, () => false);
    if (shown) return passed;
    await element.page().clock.runFor(STEP_MS);
  }
  return Infinity;
}

/** Everything that axe knows to look for, on all of the page. */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  // Without frames, the legacy mode finds the same and opens no second page to do so.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).join(' ')}`);
  expect(told, where).toEqual([]);
}

/**
 * Nothing is wider than the window, so nothing has to be dragged sideways, and pages scroll inside the shell,
 * never the shell itself. After a new size the page is laid out over several frames: what lasts counts.
 */
export async function expectNoOverflow(page: Page, where: string): Promise<void> {
  await expect.poll(() => overflow(page), { message: where }).toEqual({ wider: [], sideways: false, down: false });
}

function overflow(page: Page): Promise<{ wider: string[]; sideways: boolean; down: boolean }> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const wider = [...document.querySelectorAll('body, body *:not(.visually-hidden, .skip)')]
      // A strip of tabs may be pushed sideways on purpose.
      .filter((element) => element.closest('nav')?.contains(element.parentElement) !== true)
      .filter((element) => element.getBoundingClientRect().right > width + 0.5)
      // A text that is cut where its box ends goes on behind it, where nobody sees it.
      .filter((element) => {
        for (let box: Element | null = element; box !== null; box = box.parentElement) {
          const { textOverflow, webkitLineClamp } = getComputedStyle(box);
          const cuts = textOverflow === 'ellipsis' || webkitLineClamp !== 'none';
          if (cuts && box.getBoundingClientRect().right <= width + 0.5) return false;
        }
        return true;
      })
      .map((element) => element.outerHTML.slice(0, 120));
    const { scrollWidth, scrollHeight } = document.documentElement;
    const isShell = document.querySelector('.shell') !== null;
    return { wider, sideways: scrollWidth > innerWidth, down: isShell && scrollHeight > innerHeight };
  });
}

/** A view as a person would look at it; nothing of it may be out of reach. */
export async function look(page: Page, name: string): Promise<void> {
  await keep(page, name);
  await expectNoOverflow(page, name);
  await expectAccessible(page, name);
}

/** Looks at a view in every size and every theme, without loading it again. */
export async function lookAround(page: Page, name: string): Promise<void> {
  // A colour that is still on its way would be measured as it is then.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    await drawn(page);
    await expectNoOverflow(page, `${name}, ${size}`);
    if (screenshots !== undefined) await keepEachTheme(page, name, size);
  }
  for (const theme of THEMES) {
    await switchTo(page, theme);
    await expectAccessible(page, `${name}, ${theme}`);
  }
}

export async function keep(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

async function keepEachTheme(page: Page, name: string, size: string): Promise<void> {
  for (const theme of THEMES) {
    await switchTo(page, theme);
    await keep(page, `${name}-${theme}-${size}`);
  }
}

/** As when the system's theme changes at dusk. */
export async function switchTo(page: Page, theme: Theme): Promise<void> {
  // Colours on their way from one theme to the other are nobody's.
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.waitForSelector(`html[data-theme="${theme}"]`);
  await drawn(page);
}

/** Waits until the page has drawn what was changed. */
function drawn(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(() => { resolve(); }));
      }),
  );
}
