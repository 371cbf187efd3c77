import type { Page } from 'playwright-core';
import { go } from './harness';

/** Every view that there is, and how to get to it. */
export const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  now: (page) => go(page, '/'),
  system: (page) => go(page, '/system'),
  inspector: async (page) => {
    await go(page, '/system?row=database&inspector=open');
    await page.waitForSelector('aside');
  },
  missing: (page) => go(page, '/nowhere'),
  palette: async (page) => {
    await go(page, '/system');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog[open]');
  },
  help: async (page) => {
    await go(page, '/');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
  },
};
