import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { go, lookAround } from './harness';
import { Model } from './model';
import { openOwnStage, visitEach } from './stage';
import { choose } from './transcripts';

const model = new Model();
afterAll(() => model.stop());
const stage = openOwnStage({
  env: { LLM_PROVIDER: 'openai', LLM_API_KEY: 'not-a-real-key', LLM_BASE_URL: await model.start() },
});
const here = visitEach(stage);

const CALL = '00:00:05 Alice: checkout is down\n00:01:10 Bob: a migration holds the locks\n';
const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b> & <script>alert(1)</script>';
const HEBREW = 'שרת התשלומים נפל בשעה תשע';

/** A report in which every text is one that means harm. */
function harmful(): object {
  const evidence = [{ quote: MARKUP, timecode: '<b>00:01</b>' }];
  const claims = [{ text: MARKUP, evidence }, { text: HEBREW, evidence }];
  return {
    title: `${HEBREW} ${MARKUP}`,
    summary: MARKUP,
    impact: claims[0],
    severity: 'high',
    started_at: '2026-11-15T21:00:00Z',
    ended_at: '<i>later</i>',
    timeline: [{ at: '<u>then</u>', what: MARKUP, evidence }],
    root_causes: claims,
    contributing_factors: claims,
    what_went_well: claims,
    actions: [{ owner: MARKUP, action: MARKUP, due: '<s>soon</s>', evidence }],
    affected_dependencies: [{ name: MARKUP, effect: MARKUP, evidence }],
    open_questions: [{ question: MARKUP, evidence }],
  };
}

async function upload(page: Page, name: string): Promise<void> {
  await go(page, '/reports');
  await choose(page, { name, text: CALL });
  await page.getByRole('link', { name: `Follow it: ${name}` }).click();
}

it('counts down to the next try of a model that asks to wait', async () => {
  const { page } = here;
  // The page may read the file once more before it leaves it.
  here.mayRefuse(404);
  // The longest that is told in seconds: a slow machine has all of them to see the page.
  model.turns = [{ status: 429, headers: { 'Retry-After': '99' } }];
  await upload(page, 'busy.txt');
  const waits = page.locator('[data-waits]');
  await waits.getByText(/^next try in \d+ s$/).waitFor();
  await waits.getByText('llm_rate_limited').waitFor();
  const left = async () => Number(/next try in (\d+) s/.exec(await waits.locator('[data-standing]').innerText())?.[1]);
  const before = await left();
  await expect.poll(left).toBeLessThan(before);
  await page.getByRole('button', { name: 'Delete busy.txt' }).click();
  await page.getByRole('dialog').getByText('is removed from this server').waitFor();
  await page.getByRole('button', { name: 'Delete the transcript' }).click();
  await page.waitForURL('**/reports');
});

it('never hides what nobody said, folded or on paper', async () => {
  const { page } = here;
  const claim = (text: string, ...quotes: string[]) => ({ text, evidence: quotes.map((quote) => ({ quote, timecode: null })) });
  const [said, other] = ['checkout is down', 'a migration holds the locks'];
  model.turns = [
    {
      report: {
        ...harmful(),
        impact: claim('Nobody could pay.', said),
        timeline: [
          { at: null, what: 'It began.', evidence: claim('', said, 'made up of the timeline').evidence },
          { at: null, what: 'It went on.', evidence: claim('', other).evidence },
        ],
        root_causes: [claim('The migration.', said, other, other, 'made up of the cause')],
        contributing_factors: [],
        what_went_well: [],
        actions: [],
        affected_dependencies: [],
        open_questions: [],
      },
    },
  ];
  await upload(page, 'made-up.txt');
  const article = page.getByRole('article');
  await article.getByText('2 of 8 quotes were not found in the call').waitFor();
  const shown = () => article.locator('blockquote').filter({ visible: true }).allInnerTexts();
  const marks = article.getByText('Neither said in the call nor recorded, or not then', { exact: true }).filter({ visible: true });
  expect(await shown()).toEqual([said, 'made up of the timeline', said, other, 'made up of the cause']);
  expect(await marks.count()).toBe(2);

  const all = [said, said, 'made up of the timeline', other, said, other, other, 'made up of the cause'];
  await page.emulateMedia({ media: 'print' });
  await expect.poll(shown).toEqual(all);
  expect(await marks.count()).toBe(2);
  await page.emulateMedia({ media: 'screen' });
  await expect.poll(shown).toHaveLength(5);
  // A browser that prints takes what stands there when it has told so.
  const printed = await page.evaluate(() => {
    window.dispatchEvent(new Event('beforeprint'));
    return document.querySelectorAll('article blockquote').length;
  });
  expect(printed).toBe(all.length);
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  await expect.poll(shown).toHaveLength(5);
});

it('shows a failure, is tried again, and shows what the model wrote as text', async () => {
  const { page } = here;
  model.turns = [{ status: 400 }, { report: harmful() }];
  await upload(page, 'harm.txt');
  await page.locator('[data-failed]').getByText('llm_call_failed').waitFor();
  await page.getByRole('button', { name: 'Retry' }).click();
  const article = page.getByRole('article');
  await article.waitFor();
  // Nothing of it became markup, and all of it is there to read.
  expect(await article.locator('img, script, b, i, u, s').count()).toBe(0);
  await expect.poll(() => page.title()).toBe(`${HEBREW} ${MARKUP} · Mainstay`);
  expect((await article.innerText()).split(MARKUP).length).toBeGreaterThan(12);
  await article.getByText('<i>later</i>').waitFor();
  const right = await article.getByText(HEBREW, { exact: true }).first().evaluate((element) => getComputedStyle(element).direction);
  expect(right).toBe('rtl');
  await page.getByRole('button', { name: 'Unfold all' }).click();
  await page.waitForURL(/view=all/);
  await article.getByText('<b>00:01</b>').last().waitFor();
  await lookAround(page, 'report-harm');
});
