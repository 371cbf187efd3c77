import type { Page, Route } from 'playwright-core';
import type { Job, JobKind } from '../src/lib/api/jobs';

/** A queue in a state that a real one is in for a moment only, answered in the server's place. */
export class Queue {
  readonly #now = Date.now();
  readonly paused = new Set(['report']);
  jobs: Job[] = [
    this.#job('mail', 'invite to nadia@example.com', {
      attempts: 2,
      next_run_at: this.#at(96),
      last_error_code: 'unreachable',
      last_error_message: 'mail.example.com:587 refused the connection',
    }),
    this.#job('mail', 'alert 01JCQ3', { status: 'processing', ...this.#held('harbour-1:4711', 8) }),
    this.#job('report', 'file 0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d', {
      status: 'processing',
      ...this.#held('harbour-2:88', 1_900),
      stuck: true,
      crashes: 1,
    }),
    this.#job('report', 'file 0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6e', {
      status: 'failed',
      attempts: 4,
      finished_at: this.#at(-3_000),
      last_error_code: 'llm_provider_5xx',
      last_error_message: 'The provider answered 502 four times in a row',
    }),
    this.#job('sessions', null, { status: 'succeeded', finished_at: this.#at(-120) }),
  ];
  /** Every list that was asked for. */
  readonly asked: URLSearchParams[] = [];
  refuses: string | null = null;

  /** Answers for the server from now on. */
  async serve(page: Page): Promise<this> {
    await page.route(/\/api\/admin\/jobs/, (route) => this.#answer(route));
    return this;
  }

  #answer(route: Route): Promise<void> {
    const { pathname, searchParams } = new URL(route.request().url());
    const [, , , , name = '', kind = '', verb = ''] = pathname.split('/');
    if (this.refuses !== null && route.request().method() === 'POST') {
      const body = { error: this.refuses, code: 'job_not_failed', detail: 'Read the list again.' };
      return route.fulfill({ status: 409, json: body });
    }
    if (name === 'summary') return route.fulfill({ json: this.#summary() });
    if (name === 'kinds') {
      if (verb === 'pause') this.paused.add(kind);
      else this.paused.delete(kind);
      return route.fulfill({ json: this.#kind(kind) });
    }
    if (name === '' || name === 'stuck') {
      this.asked.push(searchParams);
      return route.fulfill({ json: { items: this.#found(name, searchParams), next_cursor: null } });
    }
    return route.fulfill({ json: this.#change(name, kind === 'retry') });
  }

  #found(name: string, asked: URLSearchParams): Job[] {
    const is = (wanted: string | null, value: string) => wanted === null || wanted === value;
    return this.jobs.filter(
      ({ status, kind, stuck }) =>
        is(asked.get('status'), status) && is(asked.get('kind'), kind) && (name === '' || stuck),
    );
  }

  #change(id: string, retry: boolean): Job | undefined {
    const free = { locked_at: null, locked_by: null, heartbeat_at: null, stuck: false };
    const change: Partial<Job> = retry
      ? { status: 'queued', attempts: 0, finished_at: null }
      : { status: 'failed', last_error_code: 'cancelled', finished_at: this.#at(0) };
    this.jobs = this.jobs.map((job) => (job.id === id ? { ...job, ...free, ...change } : job));
    return this.jobs.find((job) => job.id === id);
  }

  #summary(): object {
    const kinds = [...new Set(this.jobs.map(({ kind }) => kind))].sort();
    const stuck = this.jobs.filter((job) => job.stuck).length;
    return { kinds: kinds.map((kind) => this.#kind(kind)), stuck, count_cap: 1_000 };
  }

  #kind(kind: string): JobKind {
    const count = (status: string) =>
      this.jobs.filter((job) => job.kind === kind && job.status === status).length;
    return {
      kind,
      paused: this.paused.has(kind),
      concurrency: kind === 'mail' ? 4 : null,
      queued: count('queued'),
      due: count('queued'),
      processing: count('processing'),
      failed: count('failed'),
      succeeded: count('succeeded'),
      oldest_due_seconds: count('queued') > 0 ? 312 : null,
    };
  }

  #held(runner: string, beatAgo: number): Partial<Job> {
    return { locked_by: runner, locked_at: this.#at(-2_000), heartbeat_at: this.#at(-beatAgo) };
  }

  #job(kind: string, subject: string | null, more: Partial<Job>): Job {
    const plain: Job = {
      id: crypto.randomUUID(),
      kind,
      subject,
      status: 'queued',
      priority: 0,
      attempts: 1,
      max_attempts: 4,
      crashes: 0,
      created_at: this.#at(-2_400),
      next_run_at: this.#at(-2_300),
      locked_at: null,
      locked_by: null,
      heartbeat_at: null,
      lock_ttl_seconds: null,
      stuck: false,
      last_error_code: null,
      last_error_message: null,
      finished_at: null,
      archived: false,
    };
    return { ...plain, ...more };
  }

  #at(seconds: number): string {
    return new Date(this.#now + seconds * 1_000).toISOString();
  }
}
