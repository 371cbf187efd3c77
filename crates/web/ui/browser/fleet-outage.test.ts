import { beforeAll, expect, it } from 'vitest';
import { go, look } from './harness';
import { openOwnStage, visitEach } from './stage';

/** Nobody listens there. */
const env = {
  FLY_API_TOKEN: 'a-token',
  FLY_APP: 'my-fleet',
  FLY_IMAGE: 'registry.example/mainstay:1',
  FLY_API_BASE_URL: 'http://127.0.0.1:9',
};
const stage = openOwnStage({ env });
const here = visitEach(stage);

beforeAll(async () => {
  await stage.asAdmin(async (api) => {
    const made = await api.post('/api/workers', { name: 'frankfurt', provider: 'fly', category: 'persistent' });
    const { id } = (await made.json()) as { id: string };
    // It goes on for as long as it has time.
    await api.post(`/api/workers/${id}/provision`, {});
  });
}, 90_000);

it('says why nothing moves while a provider can not be reached', { timeout: 90_000 }, async () => {
  const { page } = here;
  await go(page, '/fleet');
  const told = page.getByText("Fly can't be reached");
  await told.waitFor();
  expect(await page.getByText('machines there are neither made nor ended meanwhile').count()).toBe(1);
  await look(page, 'fleet-outage');
});
