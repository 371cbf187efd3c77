import { expect, it } from 'vitest';
import { FakeBus, settle } from './fakes';
import { Holder, type World } from './hold';
import { Tab } from './tab';

/** The same numbers in every run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A server with two streams that keeps everything, and gives it in order from any position. */
class Server {
  readonly log: { id: string; stream: 'org' | 'user'; seq: number }[] = [];
  readonly #open = new Set<(text: string) => void>();
  #org = 0;
  #user = 0;

  commit(stream: 'org' | 'user'): void {
    const seq = stream === 'org' ? (this.#org += 1) : (this.#user += 1);
    const entry = { id: this.#place(), stream, seq };
    this.log.push(entry);
    for (const write of this.#open) write(frame(entry));
  }

  cutAll(): void {
    this.#open.clear();
  }

  answer(init: RequestInit): Response {
    const from = new Headers(init.headers).get('Last-Event-ID');
    const [, org = '0', user = '0'] = (from ?? '').split('.');
    const missed = this.log.filter(({ stream, seq }) => seq > Number(stream === 'org' ? org : user));
    const first = from === null ? `event: snapshot\ndata: {"position":"${this.#place()}"}\n\n` : '';
    const text = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const write = (piece: string) => {
          controller.enqueue(text.encode(piece));
        };
        write(`: hello\n\n${first}`);
        if (from !== null) this.#replay(missed, Number(org), Number(user)).forEach(write);
        this.#open.add(write);
        init.signal?.addEventListener('abort', () => {
          this.#open.delete(write);
          controller.error(new TypeError('aborted'));
        });
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  /** A replay may put the two streams side by side in another way than they came. */
  #replay(missed: typeof this.log, org: number, user: number): string[] {
    const sorted = [...missed].sort((a, b) => a.stream.localeCompare(b.stream) || a.seq - b.seq);
    return sorted.map((entry) => {
      if (entry.stream === 'org') org = entry.seq;
      else user = entry.seq;
      return frame({ ...entry, id: `e.${String(org)}.${String(user)}` });
    });
  }

  #place(): string {
    return `e.${String(this.#org)}.${String(this.#user)}`;
  }
}

function frame({ id, stream, seq }: { id: string; stream: string; seq: number }): string {
  return `id: ${id}\ndata: ${JSON.stringify({ type: 'x', seq, stream, at: '' })}\n\n`;
}

/** One browser tab: it follows, and holds the connection when it is its turn. */
class Browser {
  readonly seen: Record<string, number[]> = { org: [], user: [] };
  readonly channel;
  readonly tab: Tab;
  heldBy: ReturnType<FakeBus['open']> | null = null;
  holder: Holder | null = null;
  resets = 0;

  constructor(
    readonly bus: FakeBus,
    readonly world: World,
  ) {
    this.channel = bus.open();
    const happened: ConstructorParameters<typeof Tab>[1]['happened'] = (events, reload) => {
      for (const { stream, seq } of events) this.seen[stream]?.push(seq);
      if (reload === 'reset') this.resets += 1;
    };
    this.tab = new Tab(this.channel, { changed: () => undefined, happened }, () => world.now());
    this.tab.start();
  }

  lead(): void {
    this.heldBy = this.bus.open();
    this.holder = new Holder(this.heldBy, this.world, this.tab.known);
    this.holder.start();
  }

  close(): void {
    this.holder?.stop();
    this.tab.stop();
  }
}

it.each(Array.from({ length: 40 }, (_, seed) => seed + 1))(
  'gives every tab everything once and in order, whoever dies and whoever lags (seed %i)',
  async (seed) => {
    const chance = chances(seed);
    const upTo = (count: number) => Math.floor(chance() * count);
    const server = new Server();
    let time = 1_000;
    let names = 0;
    const world: World = {
      now: () => time,
      chance,
      uuid: () => `name-${String((names += 1))}`,
      fetch: (_path, init) => Promise.resolve(server.answer(init)),
    };
    const bus = new FakeBus();
    const tabs: Browser[] = Array.from({ length: 3 }, () => new Browser(bus, world));
    tabs[0]?.lead();
    const deliver = (browser: Browser, most: number) =>
      browser.channel.deliver(most) + (browser.heldBy?.deliver(most) ?? 0);
    const drain = async () => {
      let moved = 1;
      while (moved > 0) {
        await settle();
        moved = tabs.reduce((sum, browser) => sum + deliver(browser, Infinity), 0);
      }
    };
    // Before the first of it all stand at the same place, so all must see the same.
    await drain();

    for (let turn = 0; turn < 60; turn += 1) {
      const act = upTo(10);
      if (act < 6) server.commit(chance() < 0.7 ? 'org' : 'user');
      else if (act < 8) {
        const some = tabs[upTo(tabs.length)];
        if (some !== undefined) deliver(some, 1 + upTo(4));
      } else if (act === 8 && tabs.length > 2) {
        // The tab that holds the connection is closed, and any other one takes over.
        const gone = tabs.findIndex(({ holder }) => holder !== null);
        tabs.splice(gone, 1)[0]?.close();
        tabs[upTo(tabs.length)]?.lead();
      } else if (act === 8) {
        const late = new Browser(bus, world);
        late.seen['org'] = [-1];
        tabs.push(late);
      }
      time += 100;
      if (chance() < 0.5) await settle();
    }
    await drain();
    for (const { holder } of tabs) holder?.tick();
    await drain();

    const all = (stream: string) => server.log.filter((e) => e.stream === stream).map((e) => e.seq);
    for (const { seen, resets } of tabs.filter(({ seen }) => seen['org']?.[0] !== -1)) {
      expect(seen).toEqual({ org: all('org'), user: all('user') });
      expect(resets).toBe(0);
    }
  },
);

it('heals a tab that slept through something', async () => {
  const server = new Server();
  const world: World = {
    now: () => 1_000,
    chance: () => 0,
    uuid: () => 'name',
    fetch: (_path, init) => Promise.resolve(server.answer(init)),
  };
  const bus = new FakeBus();
  const [holds, sleeps] = [new Browser(bus, world), new Browser(bus, world)];
  holds.lead();
  const drain = async () => {
    for (let turn = 0; turn < 8; turn += 1) {
      await settle();
      holds.channel.deliver();
      holds.heldBy?.deliver();
      sleeps.channel.deliver();
    }
  };
  await drain();
  server.commit('org');
  await settle();
  sleeps.channel.lose();
  await drain();
  expect([holds.seen['org'], sleeps.seen['org']]).toEqual([[1], []]);
  server.commit('org');
  await drain();
  expect([holds.seen['org'], sleeps.seen['org']]).toEqual([[1, 2], [1, 2]]);
});
