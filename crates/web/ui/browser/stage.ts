import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { leave, openBrowser, visit, type Visit } from './harness';
import { Server } from './server';

/** The real server and a real browser, there from a file's first test to its last. */
export class Stage {
  readonly server = new Server();
  #browser: Browser | undefined;

  get browser(): Browser {
    if (!this.#browser) throw new Error('the browser opens before the first test');
    return this.#browser;
  }

  async open(): Promise<void> {
    this.#browser = await openBrowser();
    await this.server.start();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.server.remove();
  }
}

export function openStage(): Stage {
  const stage = new Stage();
  beforeAll(() => stage.open());
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
    current = await visit(stage.browser, stage.server.origin);
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
