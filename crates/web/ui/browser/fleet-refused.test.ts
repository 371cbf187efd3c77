import { beforeAll, expect, it } from 'vitest';
import { killAgent } from './agents';
import { dialog, LONG_MS, panel, row } from './fleet';
import { go } from './harness';
import { openOwnStage, visitEach } from './stage';

/** A lost agent is found by whoever needs it: no sweep comes before, however long the machine takes. */
const stage = openOwnStage({ env: { MAINSTAY_FLEET_SWEEP_MS: '300000' } });
const here = visitEach(stage);

const READY_MS = 60_000;

let worker = '';
beforeAll(async () => {
  worker = await stage.asAdmin(async (api) => {
    const made = await api.post('/api/workers', { name: 'office', provider: 'process', category: 'persistent' });
    const { id } = (await made.json()) as { id: string };
    expect((await api.post(`/api/workers/${id}/provision`, {})).ok()).toBe(true);
    return id;
  });
}, LONG_MS);

it("tells a failed action in the server's words, with the new state", { timeout: LONG_MS }, async () => {
  const { page } = here;
  here.mayRefuse(502);
  await go(page, `/fleet?row=${worker}&inspector=open`);
  await row(page, 'office').getByText('ready', { exact: true }).waitFor({ timeout: READY_MS });
  await stage.asAdmin(async (api) => {
    const net = { name: 'shop-office', definition: { services: [] }, worker_id: worker };
    const { id } = (await (await api.post('/api/nets', net)).json()) as { id: string };
    expect((await api.post(`/api/nets/${id}/load`, {})).ok()).toBe(true);
  });
  await panel(page).getByRole('button', { name: 'Unload shop-office' }).click();
  const asked = dialog(page, /Unload shop-office/);
  await asked.getByText('no longer watched from office').waitFor();
  killAgent(worker);
  await page.getByRole('button', { name: 'Unload the net' }).click();
  const told = page.getByRole('alert').filter({ hasText: 'Worker is no longer available' }).first();
  await told.getByText("Worker status has been updated to 'error'.").waitFor({ timeout: READY_MS });
  // What is not refused at once is told on the page.
  if (await asked.isVisible()) await asked.getByRole('button', { name: 'Cancel' }).click();
  await row(page, 'office').getByText('error', { exact: true }).first().waitFor();
  await panel(page).getByText('error', { exact: true }).first().waitFor();
  await stage.asAdmin((api) => api.post(`/api/workers/${worker}/retry`, {}));
  await row(page, 'office').getByText('ready', { exact: true }).waitFor({ timeout: READY_MS });
});
