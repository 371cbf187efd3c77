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

const FIRST_POLL_MS = 30_000;
const POLL_MS = 30_000;
const LOOK_MS = 50;
/** Polls that are asked for are limited, those that are refused too. */
const AGAIN_MS = 500;
/** What a poll is refused with that can be had a moment later. */
const NOT_NOW = [409, 503];

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
        const deadline = Date.now() + POLL_MS;
        // A poll that is under way may have begun before the answer was changed, and a server that has
        // just started may not know yet whom it polls.
        for (let refused = await pollOnce(api, id); refused !== null; refused = await pollOnce(api, id)) {
          if (Date.now() > deadline) throw new Error(refused);
          await wait(AGAIN_MS);
        }
      }),
  };
}

/** Why it was not polled now, or null when it was. */
async function pollOnce(api: Api, id: string): Promise<string | null> {
  const answer = await api.post(`/api/services/${id}/poll`, {});
  if (answer.status() === 200) return null;
  const why = await answer.text();
  if (!NOT_NOW.includes(answer.status())) throw new Error(why);
  return why;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function polled(api: Api, id: string): Promise<void> {
  const deadline = Date.now() + FIRST_POLL_MS;
  while (Date.now() < deadline) {
    const service = (await (await api.get(`/api/services/${id}`)).json()) as {
      last_poll: object | null;
      is_active: boolean;
    };
    if (service.last_poll !== null || !service.is_active) return;
    await wait(LOOK_MS);
  }
  throw new Error(`service ${id} was not polled in time`);
}
