import type { Locator, Page } from 'playwright-core';
import { beforeAll } from 'vitest';
import type { Demo } from './demo';
import { go, leave } from './harness';
import { openDemo, type Stage } from './stage';

/** A machine may take half a minute to come or to go, and more than one does in some tests. */
export const LONG_MS = 120_000;

/**
 * The fleet of a demo before the first incident, which never comes. Its lists are read 30 times a minute at most,
 * twice by each page that is loaded: a file has to do with so many.
 */
export function openFleet(): Stage & { readonly own: Demo } {
  const stage = openDemo('--hold', '--seed', '7');
  beforeAll(async () => {
    const first = await stage.visit();
    await go(first.page, '/nets');
    await first.page.getByText('loaded', { exact: true }).nth(5).waitFor({ timeout: 60_000 });
    await leave(first);
  }, 90_000);
  return stage;
}

export const row = (page: Page, name: string): Locator =>
  page.getByRole('row').filter({ has: page.locator('[data-row]', { hasText: name }) });
export const panel = (page: Page): Locator => page.locator('aside');
export const dialog = (page: Page, title: RegExp): Locator => page.getByRole('dialog', { name: title });
