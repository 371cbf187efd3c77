// Pictures of every page in both themes, taken of the demo world: `./scripts/screenshots [FOLDER]`.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const { MAINSTAY_BINARY: binary, MAINSTAY_SCREENSHOTS: folder, CHROMIUM: browser } = process.env;
if (binary === undefined || folder === undefined) {
  throw new Error('MAINSTAY_BINARY and MAINSTAY_SCREENSHOTS must be set: use ./scripts/screenshots');
}

/** In the middle of the first incident, which stands still so that every picture shows it. */
const MOMENT = ['--start-at', '50', '--hold'];
const START_LIMIT_MS = 60_000;
const SETTLE_MS = 1_500;
const VIEWPORT = { width: 1440, height: 900 };

const PAGES = {
  now: '/',
  wallboard: '/?board',
  activity: '/activity',
  services: '/services',
  graph: '/graph',
  aliases: '/services/aliases',
  'service-new': '/services/new',
  system: '/system',
  instances: '/system/instances',
  account: '/account',
  users: '/admin/users',
  invites: '/admin/invites',
  'access-requests': '/admin/access-requests',
  jobs: '/admin/jobs',
  settings: '/admin/settings',
  audit: '/admin/audit',
};

mkdirSync(folder, { recursive: true });
const demo = spawn(binary, ['demo', '--listen', '127.0.0.1:0', ...MOMENT], {
  stdio: ['ignore', 'pipe', 'pipe'],
});
try {
  await picture(await linkOf(demo));
} finally {
  demo.kill('SIGTERM');
}

/** The link that signs in, once the demo has told it. */
function linkOf(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => reject(new Error(`the demo told no link; it said:\n${said}`)), START_LIMIT_MS);
    const hear = (chunk) => {
      said += chunk.toString();
      const link = /http:\/\/127\.0\.0\.1:\d+\/login#[\w-]+/.exec(said)?.[0];
      if (link === undefined) return;
      clearTimeout(late);
      resolve(link);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}; it said:\n${said}`)));
  });
}

async function picture(link) {
  const chrome = await chromium.launch({
    executablePath: browser ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'],
  });
  try {
    const page = await chrome.newPage({ viewport: VIEWPORT, baseURL: new URL(link).origin });
    await page.goto(link);
    await page.waitForURL((url) => !url.pathname.startsWith('/login'));
    // The incident is on the screen before the first picture.
    await page.locator('main').getByText('PostgreSQL main').first().waitFor({ timeout: START_LIMIT_MS });
    const service = (await (await page.request.get('/api/services?q=Orders')).json()).items[0];
    const pages = { ...PAGES, service: `/services/${service.id}` };
    for (const [name, path] of Object.entries(pages)) await each(page, name, path);
  } finally {
    await chrome.close();
  }
}

async function each(page, name, path) {
  await page.goto(path);
  await page.waitForSelector('[data-light="live"]');
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
  }
}
