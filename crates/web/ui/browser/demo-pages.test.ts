import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { expectAccessible, expectNoOverflow, go, keep, switchTo, THEMES, type Visit } from './harness';
import { invite, type Api } from './people';
import { openDemo } from './stage';

/**
 * In the middle of the first incident, which stands still. The same pages are the pictures of
 * `./scripts/screenshots`, to be looked at by a person.
 */
const stage = openDemo('--start-at', '50', '--hold', '--seed', '7');

const CAUSE = 'external%3Apostgresql%20main';
/** Each page, and something that stands on it when it is whole. */
const PAGES: Record<string, readonly [path: string, whole: string]> = {
  now: ['/', '[data-row] >> text=PostgreSQL main'],
  wallboard: ['/?board', 'h2 >> text=PostgreSQL main'],
  activity: ['/activity', 'text=Unstable'],
  services: ['/services', '[data-row]'],
  'services-panel': ['/services?row=ORDERS&inspector=open', '[data-because]'],
  service: ['/services/ORDERS', '[data-because]'],
  'service-dependency': ['/services/CATALOG?row=DATABASE&inspector=open', 'aside >> text=HikariPool'],
  'service-new': ['/services/new', 'form'],
  'service-edit': ['/services/CATALOG/edit', 'text=4 dependencies'],
  aliases: ['/services/aliases', '[data-row]'],
  graph: ['/graph', '[data-drawn]'],
  'graph-cause': [`/graph?row=${CAUSE}&inspector=open`, 'aside >> text=It fails by itself'],
  'graph-list': ['/graph?view=list', '[data-row]'],
  'graph-folded': ['/graph?teams=*', '[data-drawn]'],
  thing: [`/graph/thing?node=${CAUSE}`, 'text=Who reports it'],
  'graph-past': ['/graph?at=BEFORE', 'text=You look at'],
  journeys: ['/journeys', '[data-row] >> text=buy something'],
  'journeys-panel': ['/journeys?row=JOURNEY&inspector=open', 'aside >> text=Open the failed run'],
  journey: ['/journeys/JOURNEY', 'main >> text=Open the failed run'],
  'journey-new': ['/journeys/new', 'text=sign in: 1 step'],
  'journey-edit': ['/journeys/JOURNEY/edit', 'text=buy something: 5 steps'],
  run: ['/runs/FAILED', '[aria-label="What failed"]'],
  fleet: ['/fleet', '[data-row] >> text=frankfurt-1'],
  'fleet-panel': ['/fleet?row=WORKER&inspector=open', 'aside >> text=Nets'],
  'worker-new': ['/fleet/new', 'form'],
  nets: ['/nets?row=SHOPNET&inspector=open', 'aside >> text=Storefront'],
  'net-new': ['/nets/new', 'form'],
  'net-edit': ['/nets/SHOPNET/edit', 'text=3 services'],
  reports: ['/reports', '[data-row] >> text=PostgreSQL main ran out'],
  'reports-panel': ['/reports?row=REPORT&inspector=open', 'aside >> text=stand-in'],
  report: ['/reports/REPORT', 'article >> text=PostgreSQL main ran out'],
  'report-shared': ['/shared#SHARE', 'article >> text=PostgreSQL main ran out'],
  system: ['/system', '[data-row]'],
  instances: ['/system/instances', 'text=this one'],
  account: ['/account', 'text=this one'],
  users: ['/admin/users', '[data-row]'],
  invites: ['/admin/invites', 'form'],
  'access-requests': ['/admin/access-requests', 'main >> text=request'],
  jobs: ['/admin/jobs', 'main >> text=jobs'],
  settings: ['/admin/settings', '[data-row], main td'],
  audit: ['/admin/audit', '[data-row]'],
};
/** The pages without a session. */
const DOORS: Record<string, readonly [path: string, whole: string]> = {
  login: ['/login', 'form'],
  'request-access': ['/request-access', 'form'],
  invite: ['INVITE', 'input[type="password"]'],
  'first-run': ['/login?first', 'text=By the link in the log'],
  setup: ['/setup?first#TOKEN', 'form'],
};
const VIEWPORT = { width: 1440, height: 900 };
/** It runs every ten seconds, and a report is written at once: on a busy machine that takes a while. */
const DONE_MS = 60_000;
/** For all that is waited for before the first page. */
const READY_MS = 4 * DONE_MS;
const NARROW = { width: 360, height: 720 };

const named: Record<string, string> = {};
let current: Visit | undefined;
let outside: Visit | undefined;

beforeAll(async () => {
  current = await stage.visit({ viewport: VIEWPORT, reducedMotion: 'reduce' });
  // Everybody has noticed before the first picture.
  await go(current.page, '/');
  await current.page.getByRole('link', { name: '11 affected' }).waitFor({ timeout: DONE_MS });
  await go(current.page, '/reports');
  await current.page.locator('[data-standing="succeeded"]').first().waitFor({ timeout: DONE_MS });
  await stage.asAdmin(async (api) => {
    const [orders, catalog] = await Promise.all(
      ['Orders', 'Catalog'].map(async (name) => (await api.list<{ id: string }>(`/api/services?q=${name}`))[0]?.id ?? ''),
    );
    const { dependencies } = (await (await api.get(`/api/services/${catalog ?? ''}`)).json()) as {
      dependencies: { id: string; name: string }[];
    };
    Object.assign(named, {
      ORDERS: orders,
      CATALOG: catalog,
      DATABASE: dependencies.find(({ name }) => name === 'db')?.id,
      BEFORE: new Date(Date.now() - 30 * 60_000).toISOString(),
      ...(await cast(api)),
      ...(await travelled(api)),
      ...(await reported(api)),
      INVITE: await invite(api, 'zoe@example.com', 'viewer'),
      TOKEN: 'x'.repeat(43),
    });
  });
  outside = await stage.visitOutside({ viewport: VIEWPORT, reducedMotion: 'reduce' });
}, READY_MS);
afterAll(async () => {
  await current?.page.context().close();
  await outside?.page.context().close();
});

/** The report of the demo, and a link to it. */
async function reported(api: Api): Promise<{ REPORT: string; SHARE: string }> {
  const REPORT = (await api.list<{ id: string }>('/api/files'))[0]?.id ?? '';
  const made = (await (await api.post(`/api/files/${REPORT}/shares`, {})).json()) as { link: string };
  return { REPORT, SHARE: made.link.split('#')[1] ?? '' };
}

/** The journey of the demo, and its run that failed because of the incident. */
async function travelled(api: Api): Promise<{ JOURNEY: string; FAILED: string }> {
  const found = async () => {
    const [journey] = await api.list<{ id: string; failed_run_id: string | null }>('/api/journeys');
    return journey?.failed_run_id ? { JOURNEY: journey.id, FAILED: journey.failed_run_id } : null;
  };
  return vi.waitUntil(found, { timeout: DONE_MS, interval: 250 });
}

/** A worker of the demo, and its net. */
async function cast(api: Api): Promise<{ WORKER: string; SHOPNET: string }> {
  const workers = await api.list<{ id: string; name: string }>('/api/workers');
  const nets = await api.list<{ id: string; name: string }>('/api/nets');
  return {
    WORKER: workers.find(({ name }) => name === 'frankfurt-1')?.id ?? '',
    SHOPNET: nets.find(({ name }) => name === 'shop-fra')?.id ?? '',
  };
}

const filled = (path: string) => path.replace(/[A-Z]{4,}/g, (word) => named[word] ?? '');

it.each(Object.entries(PAGES))('%s is accessible in both themes, fits, and asks no other host', async (name, [path, whole]) => {
  if (!current) throw new Error('a page opens before the first view');
  await go(current.page, filled(path));
  await lookAt(current, name, whole);
});

it.each(Object.entries(DOORS))('%s is so too, without a session', async (name, [path, whole]) => {
  if (!outside) throw new Error('a page opens before the first view');
  const { page } = outside;
  // Before there is an account.
  if (path.includes('first')) await page.route('**/api/auth/setup', (route) => route.fulfill({ json: { needed: true } }));
  await page.goto(filled(path));
  await lookAt(outside, name, whole);
});

async function lookAt({ page, complaints }: Visit, name: string, whole: string): Promise<void> {
  await page.locator(whole).first().waitFor();
  for (const theme of THEMES) {
    await switchTo(page, theme);
    await keep(page, `${name}-${theme}`);
    await expectAccessible(page, `${name}, ${theme}`);
  }
  await expectNoOverflow(page, name);
  await page.setViewportSize(NARROW);
  await expectNoOverflow(page, `${name}, narrow`);
  await page.setViewportSize(VIEWPORT);
  expect(complaints.splice(0)).toEqual([]);
}
