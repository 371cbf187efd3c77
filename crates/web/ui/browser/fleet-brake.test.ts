import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { freezeAgents } from './agents';
import { go, leave, look, markLoad } from './harness';
import { openOwnStage, visitEach } from './stage';

/** A round comes soon, and long enough after the one before for all that has to happen in between. */
const stage = openOwnStage({ env: { MAINSTAY_FLEET_SWEEP_MS: '5000' } });
const here = visitEach(stage);

/** A machine may take half a minute to come. */
const READY_MS = 60_000;
const ROUND_MS = 60_000;
const LONG_MS = 240_000;

const workers: string[] = [];
beforeAll(async () => {
  await stage.asAdmin(async (api) => {
    for (const name of ['one', 'two', 'three']) {
      const made = await api.post('/api/workers', { name, provider: 'process', category: 'persistent' });
      const { id } = (await made.json()) as { id: string };
      expect((await api.post(`/api/workers/${id}/provision`, {})).ok()).toBe(true);
      workers.push(id);
    }
  });
  // One that is still made would fail alone, and before any round.
  const first = await stage.visit();
  await go(first.page, '/fleet');
  await first.page.getByRole('row').getByText('ready', { exact: true }).nth(2).waitFor({ timeout: READY_MS });
  await leave(first);
}, 150_000);

/** Lists are read 30 times a minute at most. */
const LOOK_MS = 750;

/** Waits until a round has just ended: one in the middle of which the agents hang would find only some of them so. */
async function roundEnds(): Promise<void> {
  const seen = () =>
    stage.asAdmin(async (api) => (await api.list<{ last_seen_at: string }>('/api/workers')).map((one) => one.last_seen_at));
  const before = await seen();
  const isOver = async () => (await seen()).every((at, place) => at !== before[place]);
  await expect.poll(isOver, { timeout: ROUND_MS, interval: LOOK_MS }).toBe(true);
}

const note = (page: Page) => page.getByText('3 of 3 workers did not answer in one round');

it('tells whoever comes while most workers fail at once, and not any more once they do not', { timeout: LONG_MS }, async () => {
  const { page } = here;
  await go(page, '/fleet');
  const stayed = await markLoad(page);
  expect(await note(page).count()).toBe(0);
  await roundEnds();
  freezeAgents(workers, true);
  try {
    await note(page).waitFor({ timeout: ROUND_MS });
    await look(page, 'fleet-brake');
    expect(await stayed()).toBe(true);
    // Whoever comes later has not heard of it, and reads it.
    await go(page, '/fleet');
    await note(page).waitFor();
  } finally {
    freezeAgents(workers, false);
  }
  await note(page).waitFor({ state: 'detached', timeout: ROUND_MS });
  await go(page, '/fleet');
  await page.getByText('3 workers').first().waitFor();
  expect(await note(page).count()).toBe(0);
});
