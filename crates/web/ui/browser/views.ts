import type { Page } from 'playwright-core';
import { go } from './harness';
import { invite, requestAccess } from './people';
import { Queue } from './queue';
import { Shelf } from './shelf';
import type { Stage } from './stage';

type Open = (page: Page, stage: Stage) => Promise<void>;

/** Every view of the dashboard, and how to get to it. */
export const VIEWS: Record<string, Open> = {
  now: (page) => go(page, '/'),
  activity: async (page) => {
    await go(page, '/activity');
    await page.getByRole('heading', { name: 'Unstable' }).waitFor();
  },
  wallboard: async (page) => {
    await go(page, '/?board');
    await page.getByRole('heading', { name: /^Nothing is watched yet/ }).waitFor();
  },
  // With services it is looked at in its own tests.
  'graph-none': async (page) => {
    await go(page, '/graph');
    await page.getByText('Nothing is watched yet.').waitFor();
  },
  system: (page) => go(page, '/system'),
  instances: async (page) => {
    await go(page, '/system/instances');
    await page.getByText('this one').waitFor();
  },
  inspector: async (page) => {
    await go(page, '/system?row=database&inspector=open');
    await page.waitForSelector('aside');
  },
  missing: (page) => go(page, '/nowhere'),
  palette: async (page) => {
    await go(page, '/system');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog[open]');
  },
  help: async (page) => {
    await go(page, '/');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
  },
  account: async (page) => {
    await go(page, '/account');
    await page.getByText('this one').waitFor();
    await page.getByText('deploy').waitFor();
  },
  'account-confirm': async (page) => {
    await go(page, '/account');
    await page.getByRole('button', { name: 'Revoke the token deploy' }).click();
    await page.waitForSelector('dialog[open]');
  },
  users: (page) => openList(page, '/admin/users'),
  'users-inspector': (page) => openFirst(page, '/admin/users'),
  invites: (page) => openList(page, '/admin/invites'),
  'invites-inspector': (page) => openFirst(page, '/admin/invites'),
  requests: (page) => openList(page, '/admin/access-requests'),
  'requests-inspector': (page) => openFirst(page, '/admin/access-requests'),
  'requests-approve': async (page) => {
    await openFirst(page, '/admin/access-requests');
    await page.getByRole('button', { name: 'Approve the request' }).last().click();
    await page.waitForSelector('dialog[open]');
  },
  'requests-none': async (page) => {
    await go(page, '/admin/access-requests?status=rejected');
    await page.getByText('No request is rejected now.').waitFor();
  },
  jobs: (page) => openQueue(page, '/admin/jobs'),
  'jobs-stuck': (page) => openQueue(page, '/admin/jobs?status=stuck'),
  'jobs-inspector': async (page) => {
    await openQueue(page, '/admin/jobs?status=failed');
    await page.locator('[data-row]').press('Enter');
    await page.waitForSelector('aside');
  },
  'jobs-cancel': async (page) => {
    await openQueue(page, '/admin/jobs?status=processing');
    await page.locator('[data-row]').first().press('Enter');
    await page.locator('aside').getByRole('button', { name: /^Cancel/ }).click();
    await page.waitForSelector('dialog[open]');
  },
  'jobs-none': async (page) => {
    await page.unroute(/\/api\/admin\/jobs/);
    await go(page, '/admin/jobs?status=stuck');
    await page.getByText('No job is stuck.').waitFor();
  },
  'reports-off': async (page) => {
    await go(page, '/reports');
    await page.getByText('Reports are switched off on this server.').waitFor();
  },
  reports: async (page) => {
    await new Shelf().serve(page);
    await openList(page, '/reports');
  },
  'reports-time': (page) =>
    openList(page, '/reports?from=2026-11-15T21:00:00.000Z&to=2026-11-15T20:00:00.000Z'),
  'reports-inspector': (page) => openFirst(page, '/reports'),
  report: (page) => openReport(page, 'checkout-outage.vtt', 'article'),
  'report-unfolded': (page) => openReport(page, 'checkout-outage.vtt', 'article', '?view=all'),
  'report-apart': async (page) => {
    await openReport(page, 'checkout-outage.vtt', 'article', '', false);
    await page.getByText('without being matched').waitFor();
  },
  'report-processing': (page) => openReport(page, 'call-with-the-bank.vtt', '[data-waits]'),
  'report-next-try': (page) => openReport(page, 'db-failover.txt', '[data-waits]'),
  'report-failed': (page) => openReport(page, 'queue-backlog.txt', '[data-failed]'),
  'report-delete': async (page) => {
    await openReport(page, 'checkout-outage.vtt', 'article');
    await page.getByRole('button', { name: 'Delete checkout-outage.vtt' }).click();
    await page.waitForSelector('dialog[open]');
  },
  settings: (page) => openList(page, '/admin/settings'),
  'settings-inspector': (page) => openFirst(page, '/admin/settings'),
  audit: (page) => openList(page, '/admin/audit'),
  'audit-inspector': (page) => openFirst(page, '/admin/audit'),
};

/** Every view that there is without a session. */
export const OUTSIDE: Record<string, Open> = {
  login: (page) => openForm(page, '/login?next=%2Fsystem'),
  'login-refused': async (page) => {
    await openForm(page, '/login?error=user_disabled');
    await page.getByRole('alert').waitFor();
  },
  'setup-done': async (page) => {
    await page.goto('/setup');
    await page.getByText('is there already').waitFor();
  },
  invite: async (page, stage) => {
    const link = await stage.asAdmin((api) => invite(api, 'zoe@example.com', 'viewer'));
    await openForm(page, link);
  },
  'request-access': (page) => openForm(page, '/request-access'),
};

/** What somebody who comes later finds: people, invites, requests and tokens. */
export async function populate(stage: Stage): Promise<void> {
  await stage.newPerson('jonas@example.com', 'editor');
  await stage.newPerson('priya.raman@payments.example.com', 'viewer');
  await stage.asAdmin(async (api) => {
    await invite(api, 'nadia@example.com', 'viewer');
    await api.post('/api/account/tokens', { name: 'deploy', scope: 'write', expires_in_days: 90 });
    await requestAccess(api, [
      { email: 'bo@beta.example' },
      {
        email: 'kim@acme.example',
        name: 'Kim Berg',
        company: 'Acme',
        note: 'We run the billing services.\n\nWe would like to see what they lean on.',
      },
    ]);
  });
}

async function openList(page: Page, path: string): Promise<void> {
  await go(page, path);
  await page.waitForSelector('[data-row]');
}

/** The jobs of a queue that answers in the server's place. */
async function openQueue(page: Page, path: string): Promise<void> {
  await new Queue().serve(page);
  await openList(page, path);
}

async function openFirst(page: Page, path: string): Promise<void> {
  await openList(page, path);
  await page.locator('[data-row]').first().press('Enter');
  await page.waitForSelector('aside');
}

/** The report of a shelf that answers in the server's place. */
async function openReport(page: Page, name: string, shows: string, query = '', timed = true): Promise<void> {
  const shelf = await new Shelf().serve(page);
  shelf.timed = timed;
  await go(page, `/reports/${shelf.id(name)}${query}`);
  await page.waitForSelector(shows);
}

async function openForm(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.waitForSelector('form');
}
