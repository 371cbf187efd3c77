import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';

const screenshots =
  process.env['MAINSTAY_SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'mainstay-screenshots-'));

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A page of its own, and everything about it that must not happen. */
export interface Visit {
  readonly page: Page;
  readonly complaints: string[];
}

export async function visit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ baseURL: origin, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  context.on('request', (request) => {
    const host = new URL(request.url());
    if (host.protocol !== 'data:' && host.origin !== origin) complaints.push(request.url());
  });
  return { page, complaints };
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

/**
 * Moves the page's clock second by second until an element has the text. Not in one go: what the
 * page asks the server for takes real time, in which a fake clock stands still.
 */
export async function untilText(page: Page, selector: string, text: RegExp): Promise<void> {
  const deadline = Date.now() + 15_000;
  let last = '';
  while (Date.now() < deadline) {
    last = (await page.locator(selector).textContent()) ?? '';
    if (text.test(last)) return;
    await page.clock.runFor(1_000);
  }
  throw new Error(`${selector} still says "${last}", not ${String(text)}`);
}

export async function expectAccessible(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).join(' ')}`);
  expect(told, where).toEqual([]);
}

/** Nothing is wider than the window, so nothing has to be dragged sideways. */
export async function expectNoOverflow(page: Page, where: string): Promise<void> {
  const wider = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    return [...document.querySelectorAll('body, body *:not(.visually-hidden, .skip)')]
      // A strip of tabs may be pushed sideways on purpose.
      .filter((element) => element.closest('nav')?.contains(element.parentElement) !== true)
      .filter((element) => element.getBoundingClientRect().right > width + 0.5)
      .map((element) => element.outerHTML.slice(0, 120));
  });
  expect(wider, where).toEqual([]);
}

/** A view as a person would look at it, kept as a picture; nothing of it may be out of reach. */
export async function look(page: Page, name: string): Promise<void> {
  await keep(page, name);
  await expectNoOverflow(page, name);
  await expectAccessible(page, name);
}

export async function keep(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}
