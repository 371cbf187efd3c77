import { beforeEach, describe, expect, it } from 'vitest';
import { FakeBus, FakeWorld, settle } from './fakes';
import { Holder, UNKNOWN, type Known } from './hold';
import { begin, KEEPALIVE_S, opened, SILENCE_MS, superseded } from './link';
import type { Channel, Message, Told } from './messages';
import { parsePosition } from './position';

let world: FakeWorld;
let tab: Channel & { deliver(): number };
let told: Told[];
let holder: Holder;
let bus: FakeBus;

beforeEach(() => {
  world = new FakeWorld();
  bus = new FakeBus();
  tab = bus.open();
  told = [];
  tab.hear((message: Message) => {
    if (message.kind === 'state' || message.kind === 'frames') told.push(message);
  });
});

const holderEnds: { deliver(): number }[] = [];
async function hold(known: Known = UNKNOWN): Promise<void> {
  const channel = bus.open();
  holderEnds.splice(0, 1, channel);
  holder = new Holder(channel, world, known);
  holder.start();
  await settle();
}

/** Delivers in both directions until nobody has anything to say. */
async function talk(): Promise<void> {
  await settle();
  while ((holderEnds[0]?.deliver() ?? 0) + tab.deliver() > 0) await settle();
}

async function ask(message: Message): Promise<void> {
  tab.post(message);
  await talk();
}

async function write(text: string): Promise<void> {
  world.last.write(text);
  await talk();
}

const phases = () => told.flatMap((one) => (one.kind === 'state' ? [one.link.phase.kind] : []));
const frames = () => told.flatMap((one) => (one.kind === 'frames' ? one.frames : []));
const HELLO = ': connected\nretry: 700\n\n';
const event = (id: string) => `id: ${id}\ndata: {"type":"x","seq":1,"stream":"org","at":""}\n\n`;
const json = (status: number, code: string, headers = {}) =>
  new Response(JSON.stringify({ error: 'No', code }), { status, headers });

describe('the holder of the connection', () => {
  it('asks for the stream, and tells what comes', async () => {
    await hold();
    await write(': hello\nretry: 700\n\nevent: snapshot\ndata: {"position":"a.1.0"}\n\n');
    await write(event('a.2.0'));
    expect(world.last.path).toMatch(/^\/api\/events\?connection=name-\d&keepalive=4$/);
    expect(world.last.resumedFrom).toBeNull();
    expect(phases()).toContain('open');
    expect(frames().map(({ to, event }) => [to.org, event?.type ?? null])).toEqual([
      [1, null],
      [2, 'x'],
    ]);
  });

  it('goes on from where it was when the connection breaks, under the same name', async () => {
    await hold();
    await write('retry: 700\n\nevent: snapshot\ndata: {"position":"a.1.0"}\n\n' + event('a.2.0'));
    const first = world.last;
    first.break();
    await talk();
    expect(phases().at(-1)).toBe('waiting');
    world.time += 699;
    holder.tick();
    expect(world.streams).toHaveLength(1);
    world.time += 1;
    holder.tick();
    await talk();
    expect(world.streams).toHaveLength(2);
    expect(world.last.resumedFrom).toBe('a.2.0');
    expect(world.last.connection).toBe(first.connection);
  });

  it('comes back after the server ended it', async () => {
    await hold();
    world.last.end();
    await talk();
    expect(phases().at(-1)).toBe('waiting');
  });

  it('cuts a connection that has fallen silent, and hears nothing of it any more', async () => {
    await hold();
    await write('event: snapshot\ndata: {"position":"a.1.0"}\n\n');
    const silent = world.last;
    world.time += SILENCE_MS;
    holder.tick();
    expect(silent.aborted).toBe(false);
    world.time += 1;
    holder.tick();
    await talk();
    expect(silent.aborted).toBe(true);
    expect(phases().at(-1)).toBe('waiting');
  });

  it('drops what was on its way when it cut, and asks for it again', async () => {
    await hold();
    await write('event: snapshot\ndata: {"position":"a.1.0"}\n\n');
    world.time += SILENCE_MS + 1;
    world.last.write(event('a.2.0'));
    holder.tick();
    await talk();
    expect(frames().map(({ to }) => to.org)).toEqual([1]);
    await ask({ kind: 'try' });
    expect(world.last.resumedFrom).toBe('a.1.0');
  });

  it('is open from the first byte on, not from the head of the answer', async () => {
    await hold();
    await talk();
    expect(phases()).not.toContain('open');
    await write(':');
    expect(phases().at(-1)).toBe('open');
  });

  it('gives up one of which only the head comes, and waits longer each time', async () => {
    await hold();
    const waits: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      world.time += SILENCE_MS + 1;
      holder.tick();
      await talk();
      expect(world.last.aborted).toBe(true);
      const last = told.at(-1);
      const phase = last?.kind === 'state' ? last.link.phase : null;
      if (phase?.kind !== 'waiting') throw new Error('it waits');
      waits.push(phase.until - world.time);
      world.time = phase.until;
      holder.tick();
      await talk();
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(phases()).not.toContain('open');
  });

  it('keeps one alive that only gives signs of life', async () => {
    await hold();
    for (let turn = 0; turn < 5; turn += 1) {
      world.time += KEEPALIVE_S * 1_000;
      await write(': keepalive\n\n');
      holder.tick();
    }
    expect(world.streams).toHaveLength(1);
    const last = told.at(-1);
    expect(last?.kind === 'state' && last.link.heardAt).toBe(world.time);
  });

  it('asks for signs of life so often that one may be lost', async () => {
    await hold();
    const asked = new URL(world.last.path, 'http://localhost').searchParams.get('keepalive');
    expect(Number(asked) * 2 * 1_000).toBeLessThan(SILENCE_MS);
  });

  it('gives way to another browser and does not come back by itself', async () => {
    await hold();
    await write('event: superseded\ndata: {}\n\n');
    world.time += 3_600_000;
    holder.tick();
    await ask({ kind: 'try' });
    await ask({ kind: 'hello', position: null });
    expect(phases().at(-1)).toBe('superseded');
    expect(world.streams).toHaveLength(1);
  });

  it('gives way when its name is refused', async () => {
    world.refuse = () => new Response(null, { status: 204 });
    await hold();
    await talk();
    expect(phases().at(-1)).toBe('superseded');
  });

  it('takes it back by a click, under a new name and from where it was', async () => {
    await hold();
    await write('event: snapshot\ndata: {"position":"a.1.0"}\n\nevent: superseded\ndata: {}\n\n');
    const before = world.last.connection;
    await ask({ kind: 'take-over' });
    expect(world.last.connection).not.toBe(before);
    expect(world.last.resumedFrom).toBe('a.1.0');
    await write(HELLO);
    expect(phases().at(-1)).toBe('open');
    await ask({ kind: 'take-over' });
    expect(world.streams).toHaveLength(2);
  });

  it.each([
    ['its event', (): void => world.last.write('event: auth_expired\ndata: {}\n\n'), null],
    ['its refusal', (): void => undefined, () => json(401, 'unauthenticated')],
  ])('tells by %s that the session is over, and stops', async (_name, act, refuse) => {
    world.refuse = refuse;
    await hold();
    act();
    await talk();
    expect(phases().at(-1)).toBe('signed-out');
    const asked = world.streams.length;
    world.time += 3_600_000;
    holder.tick();
    await ask({ kind: 'try' });
    await ask({ kind: 'hello', position: parsePosition('a.1.0') });
    expect(world.streams).toHaveLength(asked);
  });

  it('tries again for somebody who comes anew after the session was over', async () => {
    world.refuse = () => json(401, 'unauthenticated');
    await hold();
    await talk();
    world.refuse = null;
    await ask({ kind: 'hello', position: null });
    await write(HELLO);
    expect(phases().at(-1)).toBe('open');
  });

  it.each<[string, () => Response | Promise<Response>, number]>([
    ['a proxy that asks who it is', () => json(401, 'who_are_you'), 1_000],
    ['a server that is full', () => json(503, 'full', { 'Retry-After': '7' }), 7_000],
    ['a page instead of a stream', () => new Response('<html>'), 1_000],
    ['no server', () => Promise.reject(new TypeError('failed')), 1_000],
  ])('comes back after %s', async (_name, refuse, wait) => {
    world.refuse = refuse;
    await hold();
    await talk();
    const last = told.at(-1);
    expect(last?.kind === 'state' && last.link.phase).toEqual({
      kind: 'waiting',
      until: world.time + wait,
      seenUntil: world.time + wait,
    });
  });

  it('does not wait when somebody looks', async () => {
    world.refuse = () => Promise.reject(new TypeError('failed'));
    await hold();
    await talk();
    world.refuse = null;
    await ask({ kind: 'try' });
    await write(HELLO);
    expect(phases().at(-1)).toBe('open');
    await ask({ kind: 'try' });
    expect(world.streams).toHaveLength(1);
  });
});

describe('a holder that takes over from another tab', () => {
  const link = opened(begin(0), 0);
  const position = parsePosition('a.7.3');

  it('goes on from where its tab stands', async () => {
    await hold({ position, link });
    expect(world.last.resumedFrom).toBe('a.7.3');
  });

  it('stays where the one before gave way', async () => {
    await hold({ position, link: superseded(link, 0) });
    await talk();
    expect(world.streams).toHaveLength(0);
    expect(phases()).toEqual(['superseded']);
  });

  it('goes further back for a tab that knows less', async () => {
    await hold({ position, link });
    await ask({ kind: 'hello', position: parsePosition('a.6.4') });
    expect(world.streams).toHaveLength(2);
    expect(world.streams[0]?.aborted).toBe(true);
    expect(world.last.resumedFrom).toBe('a.6.3');
  });

  it.each(['a.7.3', 'a.8.3', 'b.1.1'])('stays for a tab at %s', async (id) => {
    await hold({ position, link });
    await ask({ kind: 'hello', position: parsePosition(id) });
    expect(world.streams).toHaveLength(1);
  });

  it('learns from a tab that knows more than nothing', async () => {
    await hold();
    await ask({ kind: 'hello', position });
    expect(world.last.resumedFrom).toBe('a.7.3');
  });
});
