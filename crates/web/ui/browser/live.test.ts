import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACK_MS, go, leave, lookAround, pauseClock, stopClock, untilText, visit, type Visit } from './harness';
import { PASSWORD, signIn, withApi, type Signed } from './people';
import { Relay } from './relay';
import { openStage } from './stage';

const stage = openStage();

/** A name that leads to this machine, but is not known to be this machine: see `shared.ts`. */
const PLAIN = 'plain.test';
/** Nobody else is signed in with it, so nobody takes its connection. */
const EMAIL = 'lea@example.com';

let relay: Relay;
let person: Signed | undefined;
beforeEach(async () => {
  person ??= await stage.newPerson(EMAIL, 'viewer');
  relay = new Relay();
  await relay.start(stage.origin);
});
afterEach(() => relay.stop());

/** A browser of its own, in which the person is signed in. */
async function browse(name?: string, prepare?: () => void): Promise<Visit> {
  const state = person as Signed;
  const cookies = state.cookies.map((one) => (name === undefined ? one : { ...one, domain: name }));
  const own = await visit(stage.browser, relay.origin(name), { storageState: { ...state, cookies } });
  if (prepare !== undefined) await own.page.context().addInitScript(prepare);
  return own;
}

async function openTab({ page }: Visit): Promise<Page> {
  const tab = await page.context().newPage();
  await go(tab, '/system');
  return tab;
}

const light = (page: Page) => page.locator('[data-light]').getAttribute('data-light');
const becomes = (page: Page, kind: string) => page.waitForSelector(`[data-light="${kind}"]`);
const streams = () => relay.streams.length;

function withoutLocks() {
  Object.defineProperty(Navigator.prototype, 'locks', { get: () => undefined });
}

function alone() {
  Object.defineProperty(Navigator.prototype, 'locks', { get: () => undefined });
  Reflect.deleteProperty(window, 'SharedWorker');
}

describe('the tabs of a browser', () => {
  it('share one connection, and go on with it when the tab that held it is closed', async () => {
    const browser = await browse();
    await browser.page.clock.install();
    await go(browser.page, '/');
    const second = await openTab(browser);
    const third = await openTab(browser);
    expect(streams()).toBe(1);

    const lights: string[] = [];
    await second.exposeFunction('noted', (kind: string) => lights.push(kind));
    await second.evaluate(() => {
      const shown = document.querySelector('[data-light]');
      new MutationObserver(() => {
        const page = window as unknown as { noted(kind: string): void };
        page.noted(shown?.getAttribute('data-light') ?? '');
      }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-light'] });
    });
    // However long a busy machine takes to pass it on, for the tabs it is a blink.
    await pauseClock(second);
    await browser.page.close();
    await expect.poll(() => relay.open.length + streams()).toBe(3);
    // The tabs look at it once more.
    await second.clock.runFor(1_000);
    expect(relay.streams[1]?.resumedFrom).toMatch(/^[\da-z]+\.\d+\.\d+$/);
    expect([await light(second), await light(third)]).toEqual(['live', 'live']);
    expect(lights).toEqual([]);
    await second.context().close();
    expect(browser.complaints).toEqual([]);
  });

  it('come back from where they were when the connection breaks', async () => {
    const browser = await browse();
    await go(browser.page, '/');
    // It stays away until somebody has seen that it is.
    browser.mayRefuse(404);
    relay.missing = (path) => path.startsWith('/api/events');
    relay.cut();
    await becomes(browser.page, 'reconnecting');
    relay.missing = () => false;
    await browser.page.waitForSelector('[data-light="live"]', { timeout: BACK_MS });
    expect(streams()).toBe(2);
    const [first, second] = relay.streams;
    expect(second?.connection).toBe(first?.connection);
    expect(second?.resumedFrom).toMatch(/^[\da-z]+\.\d+\.\d+$/);
    // Chromium itself notes the broken connection.
    expect(browser.complaints.splice(0).join()).toMatch(/^Failed to load resource: net::\S+$/);
    await leave(browser);
  });

  it('read everything again when the server can’t say what they missed', async () => {
    const browser = await browse();
    const { page } = browser;
    // Only what the test does makes time pass, so that nothing is read because it is due.
    await stopClock(page);
    const reads: string[] = [];
    page.on('request', (request) => reads.push(new URL(request.url()).pathname));
    await go(page, '/account');
    await page.getByText('this one').waitFor();
    reads.splice(0);
    relay.position = 'ffff.7.7';
    relay.cut();
    await becomes(page, 'reconnecting');
    await untilText(page, '[data-light]', /live/);
    await expect.poll(() => reads).toEqual(
      expect.arrayContaining(['/api/account/sessions', '/api/account/tokens', '/api/system']),
    );
    await page.context().close();
  });

  it('share one by a worker on plain HTTP, where a browser has no locks', async () => {
    const browser = await browse(PLAIN);
    await go(browser.page, '/');
    const able = await browser.page.evaluate(() => [
      isSecureContext,
      'locks' in navigator,
      'randomUUID' in crypto,
    ]);
    expect(able).toEqual([false, false, false]);
    const second = await openTab(browser);
    expect(streams()).toBe(1);
    await browser.page.close();
    await second.reload();
    await becomes(second, 'live');
    await second.context().close();
    // What the server says about windows of other sites counts only on HTTPS, and Chromium says so.
    expect(browser.complaints.filter((text) => !text.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
  });

  it('keep the worker’s connection when the tab that opened it is closed', async () => {
    const browser = await browse(undefined, withoutLocks);
    await go(browser.page, '/');
    const second = await openTab(browser);
    await browser.page.close();
    const third = await second.context().newPage();
    await go(third, '/');
    expect(streams()).toBe(1);
    expect(relay.open).toHaveLength(1);
    await third.context().close();
  });

  it('have one each where they can’t share: the newest is live, the others say so', async () => {
    const browser = await browse(undefined, alone);
    await go(browser.page, '/');
    const second = await openTab(browser);
    await becomes(browser.page, 'superseded');
    expect(await light(second)).toBe('live');
    expect(streams()).toBe(2);
    await leave(browser);
  });

  it('do without the worker when it can’t be loaded', async () => {
    relay.missing = (path) => path.startsWith('/assets/worker-');
    const browser = await browse(undefined, withoutLocks);
    browser.mayRefuse(404);
    await go(browser.page, '/');
    expect(streams()).toBe(1);
    await leave(browser);
  });
});

describe('two browsers of one person', () => {
  it('do not fight: the older one gives way, and comes back by a click', async () => {
    const older = await browse();
    await go(older.page, '/system');
    const olderTab = await openTab(older);
    const newer = await browse();
    await go(newer.page, '/');
    await becomes(older.page, 'superseded');
    await becomes(olderTab, 'superseded');
    await older.page.getByText(/^\s*Another browser of yours is live since \d\d:\d\d:\d\d\./).waitFor();
    // It is not stale: it reads what it shows by itself.
    expect(await older.page.locator('html').getAttribute('data-stale')).toBeNull();
    expect(streams()).toBe(2);
    await older.page.evaluate(() => dispatchEvent(new Event('focus')));
    // Who takes over from a tab that gave way gives way too, and so does who comes later.
    await older.page.close();
    const third = await olderTab.context().newPage();
    await third.goto('/system');
    await becomes(third, 'superseded');
    expect([await light(newer.page), streams()]).toEqual(['live', 2]);
    await leave(newer);
    await olderTab.context().close();
  });

  it('look the part in every window', async () => {
    const [older, newer] = [await browse(), await browse()];
    await go(older.page, '/system');
    await go(newer.page, '/');
    await becomes(older.page, 'superseded');
    await lookAround(older.page, 'superseded');
    await leave(older);
    await leave(newer);
  });

  it('give the connection back and forth', async () => {
    const [one, other] = [await browse(), await browse()];
    await go(one.page, '/');
    await go(other.page, '/');
    await becomes(one.page, 'superseded');
    await one.page.getByRole('button', { name: 'Take the live connection over' }).click();
    await becomes(one.page, 'live');
    await becomes(other.page, 'superseded');
    expect(streams()).toBe(3);
    expect(new Set(relay.streams.map(({ connection }) => connection)).size).toBe(3);
    await leave(one);
    await leave(other);
  });
});

it('leads every tab to the door when the session ends, without being looked at', async () => {
  const own = await signIn(stage.origin, EMAIL);
  const browser = await visit(stage.browser, relay.origin(), { storageState: own });
  browser.mayRefuse(401);
  await go(browser.page, '/system?filter=data');
  const second = await openTab(browser);
  await withApi(stage.origin, await signIn(stage.origin, EMAIL), (api) =>
    api.delete('/api/account/sessions'),
  );
  person = undefined;
  await browser.page.waitForURL(`${relay.origin()}/login?next=%2Fsystem%3Ffilter%3Ddata`);
  await second.waitForURL(`${relay.origin()}/login?next=%2Fsystem`);

  // Signed in again in one of them, the others go on by themselves, each to where it was.
  await second.getByLabel('E-mail').fill(EMAIL);
  await second.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await second.keyboard.press('Enter');
  await becomes(second, 'live');
  await browser.page.waitForURL(`${relay.origin()}/system?filter=data`);
  await becomes(browser.page, 'live');
  await leave(browser);
});
