import { randomBytes } from 'node:crypto';
import { chromium, type Browser, type BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import { Demo } from './demo';
import { leave, visit, type Visit } from './harness';
import { accept, invite, withApi, type Api, type Signed } from './people';
import { Server } from './server';

/** What a stage stands on when it does not share the server of all files. */
export interface Ground {
  readonly origin: string;
  start(): Promise<unknown>;
  /** Signs the first account in. */
  enter(): Promise<Signed>;
  remove(): Promise<void>;
}

/** A real server and a real browser, there from a file's first test to its last. */
export class Stage {
  #browser: Browser | undefined;
  #admin: Signed | undefined;

  /** The server is the one that all files share, unless the file has its own. */
  constructor(readonly own?: Ground) {}

  get browser(): Browser {
    return there(this.#browser, 'the browser');
  }

  get origin(): string {
    return this.own?.origin ?? inject('shared').origin;
  }

  /** The session of the first account, or of an admin of this file where the server is shared. */
  get admin(): Signed {
    return there(this.#admin, 'the admin');
  }

  async open(account: boolean): Promise<void> {
    this.#browser = await chromium.connect(inject('shared').endpoint);
    await this.own?.start();
    if (account) this.#admin = await (this.own === undefined ? this.#newAdmin() : this.own.enter());
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.own?.remove();
  }

  /** A page of somebody who is signed in: the admin, unless another session is given. */
  visit(options: BrowserContextOptions = {}, state: Signed = this.admin): Promise<Visit> {
    return visit(this.browser, this.origin, { storageState: state, ...options });
  }

  /** A page of somebody who is not. */
  visitOutside(options: BrowserContextOptions = {}): Promise<Visit> {
    return visit(this.browser, this.origin, options);
  }

  /** The API with the admin's session. */
  asAdmin<Result>(use: (api: Api) => Promise<Result>): Promise<Result> {
    return withApi(this.origin, this.admin, use);
  }

  /** Makes somebody's account and signs them in. */
  newPerson(email: string, role: string): Promise<Signed> {
    return this.#join(this.admin, email, role);
  }

  /** A person has one live connection, which files that run beside each other would take from each other. */
  #newAdmin(): Promise<Signed> {
    const email = `ana-${randomBytes(4).toString('hex')}@example.com`;
    return this.#join(inject('shared').admin, email, 'admin');
  }

  async #join(inviter: Signed, email: string, role: string): Promise<Signed> {
    return accept(this.origin, await withApi(this.origin, inviter, (api) => invite(api, email, role)));
  }
}

/** For tests that leave the server as others expect it. */
export function openStage(): Stage {
  return opened(new Stage(), true);
}

/**
 * For tests that need a server that nobody else has changed, or that stop it. `account` is off
 * where they begin before anybody has signed in.
 */
export function openOwnStage({
  account = true,
  env = {},
}: { account?: boolean; env?: Record<string, string> } = {}): Stage & { readonly own: Server } {
  return standOn(new Server(env), account);
}

/** The demo world as it is with these flags; see `mainstay demo --help`. */
export function openDemo(...flags: string[]): Stage & { readonly own: Demo } {
  return standOn(new Demo(flags), true);
}

function standOn<Own extends Ground>(own: Own, account: boolean): Stage & { readonly own: Own } {
  return Object.assign(opened(new Stage(own), account), { own });
}

function opened(stage: Stage, account: boolean): Stage {
  beforeAll(() => stage.open(account));
  afterAll(() => stage.close());
  return stage;
}

/** A fresh page for each test, the admin's unless somebody is named, which must end in peace. */
export function visitEach(stage: Stage, who: () => Signed = () => stage.admin): Visit {
  let current: Visit | undefined;
  beforeEach(async () => {
    current = await stage.visit({}, who());
  });
  afterEach(async () => {
    if (current) await leave(current);
    current = undefined;
  });
  return {
    get page() {
      return there(current, 'a page').page;
    },
    get complaints() {
      return there(current, 'a page').complaints;
    },
    get mayRefuse() {
      return there(current, 'a page').mayRefuse;
    },
  };
}

function there<Thing>(thing: Thing | undefined, name: string): Thing {
  if (thing === undefined) throw new Error(`${name} is there only while tests run`);
  return thing;
}
