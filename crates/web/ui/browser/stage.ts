import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { leave, openBrowser, visit, type Visit } from './harness';
import { makeFirstAccount, withApi, type Api, type Signed } from './people';
import { Server } from './server';

/** The real server and a real browser, there from a file's first test to its last. */
export class Stage {
  readonly server = new Server();
  #browser: Browser | undefined;
  #admin: Signed | undefined;

  get browser(): Browser {
    if (!this.#browser) throw new Error('the browser opens before the first test');
    return this.#browser;
  }

  /** The session of the first account. */
  get admin(): Signed {
    if (!this.#admin) throw new Error('the first account is made before the first test');
    return this.#admin;
  }

  async open(account: boolean): Promise<void> {
    this.#browser = await openBrowser();
    await this.server.start();
    if (account) this.#admin = await makeFirstAccount(this.#browser, this.server);
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.server.remove();
  }

  /** A page of somebody who is signed in: the admin, unless another session is given. */
  visit(options: BrowserContextOptions = {}, state: Signed = this.admin): Promise<Visit> {
    return visit(this.browser, this.server.origin, { storageState: state, ...options });
  }

  /** A page of somebody who is not. */
  visitOutside(options: BrowserContextOptions = {}): Promise<Visit> {
    return visit(this.browser, this.server.origin, options);
  }

  /** The API with the admin's session. */
  asAdmin<Result>(use: (api: Api) => Promise<Result>): Promise<Result> {
    return withApi(this.browser, this.server.origin, this.admin, use);
  }
}

/** `account` is off where a test begins with a server that nobody has signed in to. */
export function openStage({ account } = { account: true }): Stage {
  const stage = new Stage();
  beforeAll(() => stage.open(account));
  afterAll(() => stage.close());
  return stage;
}

/** A fresh page for each test, which must end without a complaint. */
export function visitEach(stage: Stage): Visit {
  let current: Visit | undefined;
  const here = (): Visit => {
    if (!current) throw new Error('a page opens before each test');
    return current;
  };
  beforeEach(async () => {
    current = await stage.visit();
  });
  afterEach(async () => {
    if (current) await leave(current);
    current = undefined;
  });
  return {
    get page() {
      return here().page;
    },
    get complaints() {
      return here().complaints;
    },
  };
}
