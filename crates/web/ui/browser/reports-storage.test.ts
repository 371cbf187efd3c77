import { afterAll, expect, it } from 'vitest';
import { Bucket } from './bucket';
import { go } from './harness';
import { openOwnStage, visitEach } from './stage';
import { choose } from './transcripts';

const bucket = new Bucket();
afterAll(() => bucket.stop());
const stage = openOwnStage({ env: { LLM_PROVIDER: 'fake', ...(await bucket.start()) } });
const here = visitEach(stage);

it('leaves nothing of an upload that is cancelled while it is stored', async () => {
  const { page } = here;
  bucket.hold();
  await go(page, '/reports');
  await choose(page, { name: 'stored.txt', text: 'Ada: it is down' });
  const upload = page.locator('[data-upload="storing"]');
  await upload.getByText('being stored').waitFor();
  await expect.poll(() => bucket.held.length).toBe(1);
  await page.getByRole('button', { name: 'Cancel the upload of stored.txt' }).click();
  await expect.poll(() => page.locator('[data-upload]').count()).toBe(0);
  // 499: the server has noticed.
  await stage.own.logs(/"route":"\/api\/files\/upload","status":499/);
  bucket.letGo();
  const files = () => stage.asAdmin((api) => api.list('/api/files'));
  await expect.poll(files).toEqual([]);
  await expect.poll(() => bucket.keys.size).toBe(0);
  await page.getByText('You have made no report yet.').waitFor();
});
