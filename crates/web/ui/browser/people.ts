import {
  request,
  type APIRequestContext,
  type APIResponse,
  type BrowserContext,
  type Page,
} from 'playwright-core';
import type { Server } from './server';

/** A browser's cookies and storage, so that one sign-in serves many tests. */
export type Signed = Awaited<ReturnType<BrowserContext['storageState']>>;

export const ADMIN = { email: 'ana@example.com', password: 'correct horse battery' };
export const PASSWORD = 'staple of the harbour';
/** Sooner, a form is taken for a machine's. */
const TIME_GATE_MS = 3_200;

/** Makes the first account by the link of the log, and gives its session. */
export async function makeFirstAccount(server: Server): Promise<Signed> {
  const [, token = ''] = (await server.setupLink()).split('#');
  return signedBy(server.origin, (api) => api.post('/api/auth/setup', { token, ...ADMIN }));
}

export function signIn(
  origin: string,
  email: string,
  password = email === ADMIN.email ? ADMIN.password : PASSWORD,
): Promise<Signed> {
  return signedBy(origin, (api) => api.post('/api/auth/login', { email, password }));
}

/** The API as a page of the site would call it. */
export class Api {
  readonly #request: APIRequestContext;
  readonly #origin: string;

  constructor(request: APIRequestContext, origin: string) {
    this.#request = request;
    this.#origin = origin;
  }

  get(path: string): Promise<APIResponse> {
    return this.#request.get(this.#origin + path);
  }

  post(path: string, data: object): Promise<APIResponse> {
    return this.#request.post(this.#origin + path, { data, headers: this.#headers() });
  }

  patch(path: string, data: object): Promise<APIResponse> {
    return this.#request.patch(this.#origin + path, { data, headers: this.#headers() });
  }

  delete(path: string): Promise<APIResponse> {
    return this.#request.delete(this.#origin + path, { headers: this.#headers() });
  }

  async list<Item>(path: string): Promise<Item[]> {
    const { items } = (await (await this.get(path)).json()) as { items: Item[] };
    return items;
  }

  /** Changes need to come from the site itself. */
  #headers(): Record<string, string> {
    return { Origin: this.#origin };
  }
}

/** Calls the API with a session, or without one, and closes what it opened. */
export async function withApi<Result>(
  origin: string,
  state: Signed | undefined,
  use: (api: Api, context: APIRequestContext) => Promise<Result>,
): Promise<Result> {
  const context = await request.newContext(state === undefined ? {} : { storageState: state });
  try {
    return await use(new Api(context, origin), context);
  } finally {
    await context.dispose();
  }
}

/** Invites somebody and gives the link. */
export async function invite(api: Api, email: string, role: string): Promise<string> {
  const answer = await api.post('/api/admin/invites', { email, role });
  await mustBe(201, answer);
  return ((await answer.json()) as { link: string }).link;
}

/** Accepts an invite and gives the new session. */
export function accept(origin: string, link: string): Promise<Signed> {
  const [, token = ''] = link.split('#');
  const body = { token, password: PASSWORD };
  return signedBy(origin, (api) => api.post('/api/invites/accept', body));
}

/** Sends requests for access as a person would: not at once. */
export async function requestAccess(api: Api, asked: readonly object[]): Promise<void> {
  const forms = await Promise.all(
    asked.map(async () => {
      const answer = await api.get('/api/access-requests/form');
      return (await answer.json()) as { client_ts: string };
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, TIME_GATE_MS));
  for (const [at, one] of asked.entries()) {
    const answer = await api.post('/api/access-requests', { ...one, ...forms[at] });
    await mustBe(202, answer);
  }
}

function signedBy(origin: string, enter: (api: Api) => Promise<APIResponse>): Promise<Signed> {
  return withApi(origin, undefined, async (api, context) => {
    await mustBe(200, await enter(api));
    return context.storageState();
  });
}

async function mustBe(status: number, answer: APIResponse): Promise<void> {
  if (answer.status() === status) return;
  throw new Error(`${answer.url()}: ${String(answer.status())} ${await answer.text()}`);
}

/** Begins the session of a person again, on top of the page that they were on. */
export async function signInAgain(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.waitFor();
  // By the keyboard alone: who was typing goes on typing.
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
}
