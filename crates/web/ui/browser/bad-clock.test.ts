import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { go, leave, type Visit } from './harness';
import { openOwnStage } from './stage';
import { watch } from './watched';

const stage = openOwnStage();
const watched = watch(stage);

const MINUTE_MS = 60_000;
/** A little more than what is told, so that the time that a test takes does not matter. */
const TEN_MS = 10.5 * MINUTE_MS;
const DAY_MS = 24.5 * 60 * MINUTE_MS;
const RECENT = /^(just now|\d+\s(s|min) ago)$/;

const well = [{ name: 'vault', healthy: true }];
const ill = [{ name: 'vault', healthy: false, errorMessage: 'refused' }];

let id = '';
beforeAll(async () => {
  id = await watched.add('Ledger', watched.upstream.at('/ledger', well));
});
beforeEach(async () => {
  watched.upstream.at('/ledger', well);
  await watched.poll(id);
});

async function visitOff(ms: number): Promise<Visit> {
  const visit = await stage.visit();
  await visit.page.clock.install({ time: Date.now() + ms });
  return visit;
}

describe.each([
  ['ten minutes ahead', TEN_MS, '10 min ahead of the server'],
  ['ten minutes behind', -TEN_MS, '10 min behind the server'],
  ['a day ahead', DAY_MS, '24 h ahead of the server'],
  ['a day behind', -DAY_MS, '24 h behind the server'],
])('a browser whose clock is %s', (_, ms, words) => {
  it('is live, and tells ages by the server’s clock', async () => {
    const visit = await visitOff(ms);
    const { page } = visit;
    await go(page, '/');
    await page.getByText('The one service is healthy.').waitFor();
    watched.upstream.at('/ledger', ill);
    await watched.poll(id);
    const card = page.getByRole('article', { name: 'vault' });
    await card.getByText(/^for \d+\ss$/).waitFor();
    const ages = page.getByRole('main').locator('li .when');
    // What happened is read by itself, and may come after the card.
    await ages.first().waitFor();
    for (const age of await ages.allInnerTexts()) expect(age).toMatch(RECENT);
    expect(await page.locator('[data-light]').getAttribute('data-light')).toBe('live');

    await go(page, `/services/${id}`);
    await page.locator('[data-next]').getByText(/^(in \d+\ss|now|under way)/).waitFor();
    await go(page, '/graph');
    await page.getByRole('main').getByText('1 root cause').waitFor();
    // "now" at the right end is the server's, so the incident has its mark.
    const scrubber = page.getByRole('slider', { name: 'The moment that is shown' });
    await scrubber.focus();
    // Until the marks are read, there is none to go to.
    await page.getByRole('button', { name: /Back to: Incident .*, vault down/ }).waitFor();
    await page.keyboard.press('PageDown');
    await expect.poll(() => scrubber.getAttribute('aria-valuetext')).toMatch(/, (just now|\d+\s(s|min) ago), vault down(, 1 hurt)?, .* so far$/);

    await go(page, '/system?row=runtime&inspector=open');
    await page.getByText(words).first().waitFor();
    await leave(visit);
  });
});
