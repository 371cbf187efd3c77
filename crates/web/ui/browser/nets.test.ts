import { describe, expect, it } from 'vitest';
import { dialog, LONG_MS, openFleet, panel, row } from './fleet';
import { expectNoOverflow, go, leave, lookAround } from './harness';
import { visitEach } from './stage';

const stage = openFleet();
const here = visitEach(stage);

describe('nets', { timeout: LONG_MS }, () => {
  it('are listed with their workers, and opened with what they run', async () => {
    const { page } = here;
    await go(page, '/nets');
    await page.locator('[data-row]', { hasText: 'shop-nrt' }).click();
    await panel(page).getByText('"name": "Storefront"').waitFor();
    await panel(page).getByRole('link', { name: 'tokyo-1' }).waitFor();
    await lookAround(page, 'nets');
  });

  it('are written with their mistakes at their lines, and changed only after a yes', async () => {
    const { page } = here;
    here.mayRefuse(400);
    here.mayRefuse(422);
    // A read that was on its way when the net was deleted.
    here.mayRefuse(404);
    await go(page, '/nets');
    await page.locator('[data-row]').first().waitFor();
    await page.keyboard.press('c');
    const text = page.getByRole('textbox', { name: 'The definition, as JSON' });
    await text.fill('{\n  "services": [\n    {"name": "x" "url": "y"}\n  ]\n}');
    await expect.poll(() => page.locator('li.wrong').allInnerTexts()).toEqual(['3']);
    await page.getByText('a comma or } is expected here').waitFor();
    await lookAround(page, 'net-mistake');
    await page.getByLabel('Name', { exact: true }).fill('spare net');
    await text.fill('{\n  "services": [\n    {"name": "x", "url": "https://x.example.org", "headers": {"X-Key": "k"}}\n  ],\n  "extra": 1\n}');
    await page.getByText('put no password or token in them').waitFor();
    await page.getByRole('button', { name: 'Add the net' }).click();
    await expect.poll(() => page.locator('li.wrong').allInnerTexts()).toEqual(['5']);
    await page.getByText('unknown field `extra`').first().waitFor();
    const url = await stage.asAdmin(async (api) => (await api.list<{ health_endpoint: string }>('/api/services?q=Catalog'))[0]?.health_endpoint ?? '');
    await text.fill(JSON.stringify({ services: [{ name: 'Catalog', url, format: 'status' }] }, null, 2));
    await page.getByLabel('Name', { exact: true }).fill('spare net');
    await page.getByLabel('Worker').selectOption({ label: 'tokyo-1, nrt: ready' });
    await page.getByRole('button', { name: 'Add the net' }).click();
    await page.waitForURL('**/nets?*');
    await panel(page).getByRole('button', { name: 'Load spare net' }).click();
    await panel(page).getByText('loaded', { exact: true }).waitFor({ timeout: 30_000 });

    await panel(page).getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Name', { exact: true }).fill('spare net 2');
    await page.getByLabel('Worker').selectOption('');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog(page, /Save and unload spare net/).getByText('It is loaded on tokyo-1').waitFor();
    await page.getByRole('button', { name: 'Save and unload' }).click();
    await page.waitForURL('**/nets?*');
    await row(page, 'spare net 2').getByText('no worker').waitFor();
    await panel(page).getByText('unloaded', { exact: true }).waitFor();
    await panel(page).getByRole('button', { name: 'Delete spare net 2' }).click();
    await page.getByRole('button', { name: 'Delete the net' }).click();
    await row(page, 'spare net 2').waitFor({ state: 'detached' });
  });
});

describe('others', () => {
  it('have a fleet of their own, which is empty at first', async () => {
    const editor = await stage.visit({}, await stage.newPerson('jonas@example.com', 'editor'));
    await go(editor.page, '/fleet');
    await editor.page.getByText('You have no worker yet.').waitFor();
    expect(await editor.page.locator('[data-copy="command"]').innerText()).toContain(`${stage.origin}/api/workers`);
    await lookAround(editor.page, 'fleet-none');
    await go(editor.page, '/nets');
    await editor.page.getByText('You have no net yet.').waitFor();
    await leave(editor);
  });

  it('who only read are not offered what they may not do', async () => {
    const reader = await stage.visit({}, await stage.newPerson('priya@example.com', 'viewer'));
    await go(reader.page, '/fleet/new');
    await reader.page.getByText('The fleet is changed by editors and admins.').waitFor();
    await leave(reader);
  });
});

it('filters 500 workers from one frame to the next', async () => {
  const { page } = here;
  // The server knows none of them, which the inspector finds out.
  here.mayRefuse(404);
  const id = (at: number) => `019a8b3c-0000-7000-8000-${String(at).padStart(12, '0')}`;
  const sample = await stage.asAdmin(async (api) => (await api.list<Record<string, unknown>>('/api/workers'))[0]);
  const all = Array.from({ length: 500 }, (_, at) => ({
    ...sample,
    id: id(at),
    name: `worker-${String(at)}`,
    region: `r${String(at % 12)}`,
    status: at % 50 === 0 ? 'error' : 'ready',
    nets: [],
  }));
  await page.route('**/api/workers?*', (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const next = from + 200;
    return route.fulfill({ json: { items: all.slice(from, next), next_cursor: next < all.length ? String(next) : null } });
  });
  await go(page, '/fleet');
  await page.getByText('500 workers, 10 in error').waitFor();
  expect(await page.locator('[data-row]').count()).toBe(500);
  // With the next frame, however long the machine takes for one: nothing waits in between.
  const shown = await page.evaluate(async () => {
    const field = document.querySelector<HTMLInputElement>('[data-filter]');
    if (field === null) return -1;
    field.value = 'worker-49';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return document.querySelectorAll('[data-row]').length;
  });
  expect(shown).toBe(11);
  await page.getByText('11 of 500 workers').waitFor();
  await page.setViewportSize({ width: 390, height: 720 });
  await expectNoOverflow(page, '500 workers');
});
