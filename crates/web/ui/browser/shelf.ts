import type { Page, Route } from 'playwright-core';
import type { Report, Transcript } from '../src/lib/api/files';
import { transcript } from '../src/lib/reports/sample';

/** What a field of a report holds when somebody means harm, or writes from right to left. */
export const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b> & <script>alert(1)</script>';
export const HEBREW = 'שרת התשלומים נפל בשעה תשע';

/** Files in states that a real server is in for a moment only, answered in its place. */
export class Shelf {
  readonly #now = Date.now();
  files: Transcript[] = [
    this.#file('01', 'call-with-the-bank.vtt', { status: 'processing', attempts: 2 }),
    this.#file('02', 'db-failover.txt', {
      status: 'queued',
      attempts: 1,
      next_run_at: this.#at(96),
      last_error: { code: 'llm_rate_limited', message: 'The provider asks to wait 96 s.' },
    }),
    this.#file('03', 'checkout-outage.vtt', {
      status: 'succeeded',
      attempts: 1,
      window: { from: this.#at(-7_200), to: this.#at(-3_600) },
      processed_at: this.#at(-120),
      made_with: { prompt_version: 'v1', schema_version: 'v1', model: 'gpt-5-mini' },
    }),
    this.#file('04', 'queue-backlog.txt', {
      status: 'failed',
      attempts: 4,
      last_error: { code: 'llm_provider_5xx', message: 'The provider answered 502 four times in a row.' },
    }),
    this.#file('05', 'cut-off.txt', {
      status: 'failed',
      size_bytes: null,
      queued_at: null,
      last_error: { code: 'upload_interrupted', message: 'The upload ended before the whole file was there.' },
    }),
    this.#file('06', 'waiting.vtt', {}),
  ];
  /** Times of the call and of the monitor around the same moments, unless a test says otherwise. */
  timed = true;
  configured = true;

  /** Answers for the server from now on. */
  async serve(page: Page): Promise<this> {
    await page.route(/\/api\/(files|reports|shares)(\/|\?|$)/, (route) => this.#answer(route));
    return this;
  }

  id(name: string): string {
    return this.files.find((file) => file.name === name)?.id ?? '';
  }

  #answer(route: Route): Promise<void> {
    const { pathname } = new URL(route.request().url());
    const [, , room, id = '', part = ''] = pathname.split('/');
    if (room === 'reports') return route.fulfill({ json: this.#state() });
    if (room === 'shares') return route.fulfill({ json: this.#report('checkout-outage.vtt') });
    if (id === '') return route.fulfill({ json: { items: this.files, next_cursor: null } });
    const file = this.files.find((one) => one.id === id);
    if (file === undefined) {
      const json = { error: 'Not found', code: 'not_found', detail: 'You have no file with this id.' };
      return route.fulfill({ status: 404, json });
    }
    if (part === 'report') return route.fulfill({ json: this.#report(file.name) });
    if (part === 'shares') return route.fulfill({ json: { items: [], next_cursor: null } });
    return route.fulfill({ json: file });
  }

  #state(): object {
    return {
      configured: this.configured,
      how_to_configure: this.configured ? null : 'Set LLM_API_KEY and restart Mainstay.',
      max_file_bytes: 10_485_760,
      extensions: ['txt', 'vtt'],
      max_window_seconds: 604_800,
    };
  }

  #report(name: string): Report {
    const said = (at: number, what: string, quote: string) => ({
      at: this.timed ? this.#at(at) : '00:04:10',
      what,
      evidence: [{ quote, timecode: '00:04:10' }],
    });
    const claim = (text: string, ...quotes: string[]) => ({
      text,
      evidence: quotes.map((quote, index) => ({ quote, timecode: `00:1${String(index)}:05` })),
    });
    return {
      file_id: this.id(name),
      file_name: name,
      processed_at: this.#at(-120),
      evidence_not_found: null,
      recorded_timeline_unreadable: false,
      transcript_lines_left_out: 1_204,
      made_with: { prompt_version: 'v1', schema_version: 'v1', model: 'gpt-5-mini' },
      report: {
        title: 'Checkout was down for 38 minutes after a migration held its locks',
        summary:
          'A migration of the orders table took a lock that it did not let go. The pool of the payment service ran full, and checkout failed for everybody until the migration was cancelled.',
        impact: claim('Nobody could pay for 38 minutes; about 1 200 orders were not made.', 'we lost around twelve hundred orders'),
        severity: 'critical',
        started_at: this.timed ? this.#at(-6_900) : '00:00:05',
        ended_at: this.timed ? this.#at(-4_620) : null,
        timeline: [
          said(-6_900, 'The migration of the orders table begins.', 'I started the migration at five past'),
          said(-6_600, 'Checkout answers with errors.', 'then everything went red on the shop'),
          said(-5_400, MARKUP, MARKUP),
          said(-4_620, 'The migration is cancelled, and checkout recovers.', 'I killed it and the pool drained at once'),
        ],
        root_causes: [
          claim(
            'The migration rewrote the whole orders table under an exclusive lock.',
            'it rewrites the table, so of course it locks it',
            'we never ran it against a table of that size',
            'staging has a thousand rows',
          ),
        ],
        contributing_factors: [
          claim('No limit on how long a lock may be waited for.', 'there is no lock timeout set anywhere'),
          claim(HEBREW, HEBREW),
        ],
        what_went_well: [claim('The alert came within a minute.', 'I was paged before the first ticket')],
        actions: [
          { owner: 'Alice', action: 'Set lock_timeout for migrations.', due: this.#at(86_400 * 5), evidence: claim('', 'I will set it today').evidence },
          { owner: null, action: MARKUP, due: 'before the next release', evidence: claim('', 'somebody should write that down').evidence },
        ],
        affected_dependencies: [
          { name: 'orders-db', effect: 'Held by the migration.', evidence: claim('', 'orders db was stuck').evidence },
          { name: MARKUP, effect: 'Its pool ran full.', evidence: claim('', 'the pool was at a hundred of a hundred').evidence },
        ],
        open_questions: [{ question: 'Why did the canary not show it?', evidence: claim('', 'I am not sure why the canary was green').evidence }],
      },
      recorded_timeline: {
        from: this.#at(-7_200),
        to: this.#at(-3_600),
        covered: { from: this.#at(-7_200), to: this.#at(-3_600) },
        entries: [
         [-6_640, 'orders-db of payments is degraded, was healthy'],
          [-6_612, 'payments is down, was healthy: timeout'],
          ...['root causes then: orders-db', 'service shop became degraded', ...Array<string>(5).fill('service cart says that its dependency shop is degraded')].map((what) => [-6_590, what] as const),
          ...Array.from({ length: 6 }, (_, at) => [-6_200 + at * 60, `search answers slowly (${String(at + 1)})`] as const),
          [-4_600, 'orders-db of payments is healthy, was degraded'],
          [-4_570, 'payments is healthy, was down'],
        ].map(([at, what]) => ({ at: this.#at(Number(at)), what: String(what) })),
      },
    };
  }

  #file(number: string, name: string, more: Partial<Transcript>): Transcript {
    const id = `0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c${number}`;
    const [created_at, queued_at] = [this.#at(-300 * Number(number)), this.#at(-300 * Number(number) + 2)];
    return transcript({ id, name, size_bytes: 48_213, created_at, queued_at, started_at: this.#at(-90), ...more });
  }

  #at(seconds: number): string {
    return new Date(this.#now + seconds * 1_000).toISOString();
  }
}
