import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { freezeAgent } from './agents';
import { go, look, markLoad } from './harness';
import { openOwnStage, visitEach } from './stage';

/** One round takes two questions of five seconds where all agents hang: nobody waits for the next one. */
const stage = openOwnStage({ env: { MAINSTAY_FLEET_SWEEP_MS: '1000' } });
const here = visitEach(stage);

const ROUND_MS = 40_000;
const LONG_MS = 180_000;

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
}, 90_000);

const note = (page: Page) => page.getByText('3 of 3 workers did not answer in one round');

it('tells whoever comes while most workers fail at once, and not any more once they do not', { timeout: LONG_MS }, async () => {
  const { page } = here;
  await go(page, '/fleet');
  const stayed = await markLoad(page);
  expect(await note(page).count()).toBe(0);
  for (const id of workers) freezeAgent(id, true);
  try {
    await note(page).waitFor({ timeout: ROUND_MS });
    await look(page, 'fleet-brake');
    expect(await stayed()).toBe(true);
    // Whoever comes later has not heard of it, and reads it.
    await go(page, '/fleet');
    await note(page).waitFor();
  } finally {
    for (const id of workers) freezeAgent(id, false);
  }
  await note(page).waitFor({ state: 'detached', timeout: ROUND_MS });
  await go(page, '/fleet');
  await page.getByText('3 workers').first().waitFor();
  expect(await note(page).count()).toBe(0);
});
