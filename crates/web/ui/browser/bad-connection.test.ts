import type { Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { go, pauseClock, untilText, visit } from './harness';
import { Relay } from './relay';
import { openOwnStage } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const watched = watch(stage);

const WELL = [{ name: 'vault', healthy: true }];
const ILL = [{ name: 'vault', healthy: false, errorMessage: 'refused' }];
const MINUTE_MS = 60_000;
/** A test waits several times for as long as a whole one may usually take. */
const LONG_MS = 120_000;
const CALM = 'The one service is healthy.';

let id = '';
beforeAll(async () => {
  id = await watched.add('Ledger', watched.upstream.at('/ledger', WELL));
});
beforeEach(async () => {
  watched.upstream.at('/ledger', WELL);
  await watched.poll(id);
});

const card = (page: Page) => page.getByRole('article', { name: 'vault' });
const light = (page: Page) => page.locator('[data-light]').getAttribute('data-light');
const at = (page: Page) => page.evaluate(() => Date.now());

/** Now in the browser of somebody who never loads it again; time passes as the test says. */
async function watchNow(): Promise<Page> {
  // Not `leave`d: a browser notes each refused connection on its console.
  const { page } = await stage.visit();
  await page.clock.install();
  await go(page, '/');
  await page.getByText(CALM).waitFor();
  await page.evaluate(() => (document.documentElement.dataset['same'] = 'yes'));
  return page;
}

async function expectOld(page: Page): Promise<void> {
  await untilText(page, '[data-light]', /stale \d+ s/);
  await untilText(page, '[data-summary]', /Old data since/);
  await page.getByText('Nothing was broken when this was last read.').waitFor();
}

/** What happened meanwhile is there, and the page is still the one that was loaded. */
async function expectCaughtUp(page: Page): Promise<void> {
  await untilText(page, '[data-light]', /live/);
  await untilText(page, 'main', /refused/);
  await card(page).waitFor();
  await untilText(page, '[data-summary]', /root cause/);
  expect(await page.locator('html').getAttribute('data-same')).toBe('yes');
}

describe('a page that goes on', { timeout: LONG_MS }, () => {
  it('says that it is old while its browser is offline, and comes back', async () => {
    const page = await watchNow();
    await page.context().setOffline(true);
    watched.upstream.at('/ledger', ILL);
    await watched.poll(id);
    await expectOld(page);
    await page.context().setOffline(false);
    await expectCaughtUp(page);
    await page.context().close();
  });

  it('comes back at once when the browser does, whatever it waits for', async () => {
    const page = await watchNow();
    await pauseClock(page);
    await page.context().setOffline(true);
    // The browser knows: nobody has to wait until the silence is noticed, and no time passes here.
    await expect.poll(() => light(page)).toBe('reconnecting');
    await expectOld(page);
    await page.context().setOffline(false);
    // Nobody moves the clock: it does not wait for its turn.
    await expect.poll(() => light(page)).toBe('live');
    await page.context().close();
  });

  it('outlives a server that is gone for a minute, and shows what happened meanwhile', async () => {
    const page = await watchNow();
    const began = await at(page);
    await stage.own.stop();
    await expectOld(page);
    watched.upstream.at('/ledger', ILL);
    while ((await at(page)) - began < MINUTE_MS) await page.clock.runFor(1_000);
    expect(await light(page)).toBe('stale');
    await stage.own.start();
    await watched.poll(id);
    await expectCaughtUp(page);
    await page.context().close();
  });
});

describe('behind what stands between', { timeout: LONG_MS }, () => {
  const EVENTS = '/api/events';
  const ME = '/api/auth/me';
  const ENTER = '/api/auth/enter';
  /** The code of the pages without a session. */
  const DOOR = /^\/assets\/Outside-[\w-]+\.js/;
  /** In half a minute: every five seconds, by a browser that itself asks twice where a connection breaks, and a few. */
  const CALM_TRIES = 20;
  const HALF_A_MINUTE_S = 30;

  let relay: Relay;
  beforeEach(async () => {
    relay = new Relay();
    await relay.start(stage.origin);
  });
  afterEach(() => relay.stop());

  /** A page whose time passes as the test says; not `leave`d, as a browser notes what is broken on its console. */
  async function open(path: string, isSignedIn = true): Promise<Page> {
    const { page } = await visit(stage.browser, relay.origin(), isSignedIn ? { storageState: stage.admin } : {});
    await page.clock.install();
    await page.goto(path);
    return page;
  }

  const asked = (path: string) => relay.asked.filter((one) => one === path).length;

  async function pass(page: Page, seconds: number, each: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await page.clock.runFor(1_000);
      await each();
    }
  }

  it('is old where the events are taken and never answered, says so, and is live once they come', async () => {
    relay.silent = (path) => path.startsWith(EVENTS);
    const page = await open('/');
    await page.getByText(CALM).waitFor();
    await untilText(page, '[data-light]', /stale \d+ s/);
    await untilText(page, '[data-summary]', /Old data since/);
    await untilText(page, '[data-voice]', /What you see is old/);
    relay.silent = () => false;
    await untilText(page, '[data-light]', /live/);
    await page.getByText(CALM).waitFor();
    await page.context().close();
  });

  it('is not live by the head of an answer whose events are held back', async () => {
    relay.holdsBack = true;
    const page = await open('/');
    await page.getByText(CALM).waitFor();
    await untilText(page, '[data-light]', /stale \d+ s/);
    const before = relay.streams.length;
    await pass(page, HALF_A_MINUTE_S, async () => {
      expect(await light(page)).toBe('stale');
    });
    expect(relay.streams.length - before).toBeLessThan(CALM_TRIES);
    relay.holdsBack = false;
    await untilText(page, '[data-light]', /live/);
    await page.context().close();
  });

  it('throws nobody out whose session it can’t ask for, asks calmly, and goes on by itself', async () => {
    relay.gone = (path) => path === ME;
    const page = await open('/activity');
    await page.getByRole('heading', { name: 'Unstable' }).waitFor();
    const before = asked(ME);
    await pass(page, HALF_A_MINUTE_S);
    expect(asked(ME) - before).toBeGreaterThan(2);
    expect(asked(ME) - before).toBeLessThan(CALM_TRIES);
    expect(new URL(page.url()).pathname).toBe('/activity');
    relay.gone = () => false;
    await untilText(page, '[data-light]', /live/);
    expect([new URL(page.url()).pathname, relay.loads]).toEqual(['/activity', 1]);
    await page.context().close();
  });

  it('leads who is signed in on from the door as soon as the server says so', async () => {
    const page = await open('/');
    await untilText(page, '[data-light]', /live/);
    relay.gone = (path) => path === ME;
    await page.goto('/login?next=%2Factivity');
    await page.waitForSelector('form');
    const before = asked(ME);
    await pass(page, HALF_A_MINUTE_S);
    expect(asked(ME) - before).toBeGreaterThan(2);
    expect(asked(ME) - before).toBeLessThan(CALM_TRIES);
    relay.gone = () => false;
    await page.clock.runFor(5_000);
    await page.waitForURL('**/activity');
    await untilText(page, '[data-light]', /live/);
    await page.context().close();
  });

  it('keeps a link that signs in once until somebody answers', async () => {
    relay.gone = (path) => path === ENTER;
    const page = await open(`/login#${'A'.repeat(43)}`, false);
    await page.getByText('Your link is kept').waitFor();
    const before = asked(ENTER);
    await pass(page, HALF_A_MINUTE_S);
    expect(asked(ENTER) - before).toBeGreaterThan(2);
    expect(asked(ENTER) - before).toBeLessThan(CALM_TRIES);
    relay.gone = () => false;
    await page.clock.runFor(5_000);
    await page.getByText('Sign in with e-mail and password').waitFor();
    await page.context().close();
  });

  it('loads the door anew when its code was asked for and nobody ever answers', async () => {
    relay.silent = (path) => relay.loads === 1 && DOOR.test(path);
    const page = await open('/login', false);
    await page.getByText('Waiting for the server').waitFor();
    await pass(page, HALF_A_MINUTE_S);
    await page.waitForSelector('form');
    expect(relay.loads).toBe(2);
    await page.context().close();
  });

  it('loads the door again by itself, calmly, when its code did not come', async () => {
    relay.gone = (path) => DOOR.test(path);
    const page = await open('/login', false);
    await page.getByRole('heading', { name: 'This page could not be loaded.' }).waitFor();
    await page.getByText('It is loaded again as soon as the server answers.').waitFor();
    await pass(page, HALF_A_MINUTE_S);
    // Each try asks for it ahead of its turn too.
    expect(relay.asked.filter((path) => DOOR.test(path)).length).toBeLessThan(2 * CALM_TRIES);
    expect(relay.loads).toBeLessThanOrEqual(2);
    relay.gone = () => false;
    await page.clock.runFor(5_000);
    await page.waitForSelector('form');
    await page.context().close();
  });
});
