import { afterAll, beforeAll } from 'vitest';
import type { Api } from './people';
import type { Stage } from './stage';
import { Upstream } from './upstream';

/** Services of a server, and what they ask. */
export interface Watched {
  readonly upstream: Upstream;
  /** Watches one, waits for its first poll, and gives its id. */
  add(name: string, endpoint: string, more?: object): Promise<string>;
  /** Polls it now and waits until that is recorded. */
  poll(id: string): Promise<void>;
}

const FIRST_POLL_MS = 10_000;

export function watch(stage: Stage): Watched {
  let upstream: Upstream | undefined;
  beforeAll(async () => {
    upstream = await new Upstream().start();
  });
  afterAll(() => upstream?.stop());
  return {
    get upstream() {
      if (upstream === undefined) throw new Error('the upstream is there only while tests run');
      return upstream;
    },
    add: (name, health_endpoint, more = {}) =>
      stage.asAdmin(async (api) => {
        const answer = await api.post('/api/services', { name, health_endpoint, ...more });
        if (answer.status() !== 201) throw new Error(await answer.text());
        const { id } = (await answer.json()) as { id: string };
        await polled(api, id);
        return id;
      }),
    poll: (id) =>
      stage.asAdmin(async (api) => {
        const answer = await api.post(`/api/services/${id}/poll`, {});
        // The schedule may be faster.
        if (![200, 409].includes(answer.status())) throw new Error(await answer.text());
      }),
  };
}

async function polled(api: Api, id: string): Promise<void> {
  const deadline = Date.now() + FIRST_POLL_MS;
  while (Date.now() < deadline) {
    const service = (await (await api.get(`/api/services/${id}`)).json()) as {
      last_poll: object | null;
      is_active: boolean;
    };
    if (service.last_poll !== null || !service.is_active) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`service ${id} was not polled in time`);
}
