import { parse, retryAfter } from '../api/client';
import { meaning } from './frames';
import * as links from './link';
import type { Link } from './link';
import type { Channel, Frame, Message } from './messages';
import { covers, earlier, formatPosition, sameEpoch, type Position } from './position';
import { BlockReader, type Block } from './sse';

export const STREAM_PATH = '/api/events';
/** Tabs are told of signs of life at most this often. */
const TELL_MS = 1_000;

/** What a holder needs of the world, so that tests can be it. */
export interface World {
  now(): number;
  /** From 0 to 1. */
  chance(): number;
  uuid(): string;
  fetch(path: string, init: RequestInit): Promise<Response>;
}

/** What is known when the connection passes from one tab to another. */
export interface Known {
  readonly position: Position | null;
  readonly link: Link | null;
}

export const UNKNOWN: Known = { position: null, link: null };

/**
 * Holds the one connection to the event stream and tells all tabs what comes over it. It keeps
 * trying, except where the session is over or another browser took the connection.
 */
export class Holder {
  readonly #channel: Channel;
  readonly #world: World;
  readonly #term: string;
  /** By this name the server knows a connection that comes back from one that is new. */
  #connection: string;
  #link: Link;
  #position: Position | null;
  #toldAt = -Infinity;
  /** What comes over an earlier connection than the last is dropped. */
  #turn = 0;
  #abort = new AbortController();

  constructor(channel: Channel, world: World, known: Known) {
    this.#channel = channel;
    this.#world = world;
    this.#term = world.uuid();
    this.#connection = world.uuid();
    this.#position = known.position;
    this.#link = known.link ?? links.begin(world.now());
  }

  start(): void {
    this.#channel.hear((message) => {
      this.#hear(message);
    });
    // Who takes over from a tab that gave way gives way too.
    if (isRunning(this.#link)) this.#connect();
    else this.#tell();
  }

  stop(): void {
    this.#cut();
    this.#channel.close();
  }

  /** Looks at the clock. Called about once a second. */
  tick(): void {
    const now = this.#world.now();
    if (links.isDue(this.#link, now)) this.#connect();
    else if (links.isSilent(this.#link, now)) this.#lose();
  }

  #hear(message: Message): void {
    if (message.kind === 'hello') this.#welcome(message.position);
    else if (message.kind === 'try' && this.#link.phase.kind === 'waiting') this.#connect();
    else if (message.kind === 'take-over' && this.#link.phase.kind === 'superseded') {
      // The old name is refused from now on.
      this.#connection = this.#world.uuid();
      this.#connect();
    }
  }

  /** A tab that knows less is given what it misses: the stream is asked for from there. */
  #welcome(position: Position | null): void {
    const { kind } = this.#link.phase;
    const from = back(this.#position, position);
    const moved = from !== this.#position;
    this.#position = from;
    // Whoever comes anew while the session is over has another one.
    const returned = kind === 'signed-out' && position === null;
    if (returned || (moved && (kind === 'open' || kind === 'connecting'))) this.#connect();
    else this.#tell();
  }

  #connect(): void {
    this.#cut();
    const turn = this.#turn;
    this.#set(links.connect(this.#link, this.#world.now()));
    this.#run(turn).catch(() => {
      if (turn === this.#turn) this.#lose();
    });
  }

  async #run(turn: number): Promise<void> {
    const resume = this.#position;
    const headers = { Accept: 'text/event-stream' };
    const query = `connection=${this.#connection}&keepalive=${String(links.KEEPALIVE_S)}`;
    const response = await this.#world.fetch(`${STREAM_PATH}?${query}`, {
      cache: 'no-store',
      headers: resume === null ? headers : { ...headers, 'Last-Event-ID': formatPosition(resume) },
      signal: this.#abort.signal,
    });
    if (turn !== this.#turn) return;
    if (isStream(response)) await this.#read(response, turn);
    else await this.#refused(response, turn);
  }

  async #read({ body }: Response, turn: number): Promise<void> {
    const blocks = new BlockReader();
    const text = new TextDecoder();
    const reader = body?.getReader();
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
      if (turn !== this.#turn) return;
      if (this.#link.phase.kind !== 'open') this.#set(links.opened(this.#link, this.#world.now()));
      this.#take(blocks.push(text.decode(piece.value, { stream: true })));
    }
    if (turn === this.#turn) this.#lose();
  }

  async #refused(response: Response, turn: number): Promise<void> {
    const code = parse(await response.text())?.['code'];
    if (turn !== this.#turn) return;
    if (response.status === 204) this.#giveWay();
    else if (response.status === 401 && code === 'unauthenticated') this.#end();
    else this.#lose((retryAfter(response.headers.get('Retry-After'), this.#world.now()) ?? 0) * 1000);
  }

  #take(blocks: readonly Block[]): void {
    const frames: Frame[] = [];
    let end: (() => void) | null = null;
    for (const block of blocks) {
      if (block.retry !== null) this.#link = links.told(this.#link, block.retry);
      const means = meaning(block, this.#position);
      if (means.kind === 'frame') {
        frames.push(means.frame);
        this.#position = means.frame.to;
      } else if (means.kind === 'superseded') end = () => { this.#giveWay(); };
      else if (means.kind === 'signed-out') end = () => { this.#end(); };
    }
    this.#heard(frames);
    end?.();
  }

  #heard(frames: readonly Frame[]): void {
    const at = this.#world.now();
    this.#link = links.heard(this.#link, at);
    if (frames.length > 0) this.#channel.post({ kind: 'frames', term: this.#term, at, frames });
    if (Math.abs(at - this.#toldAt) >= TELL_MS) this.#tell();
  }

  #giveWay(): void {
    this.#cut();
    this.#set(links.superseded(this.#link, this.#world.now()));
  }

  #end(): void {
    this.#cut();
    this.#set(links.signedOut(this.#link));
  }

  #lose(floor = 0): void {
    this.#cut();
    this.#set(links.lost(this.#link, this.#world.now(), this.#world.chance(), floor));
  }

  /** Nothing of an earlier connection is heard from here on. */
  #cut(): void {
    this.#turn += 1;
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  #set(link: Link): void {
    this.#link = link;
    this.#tell();
  }

  #tell(): void {
    this.#toldAt = this.#world.now();
    const [link, position] = [this.#link, this.#position];
    this.#channel.post({ kind: 'state', term: this.#term, link, position });
  }
}

/** From where the stream must be read so that a tab that stands at `theirs` misses nothing. */
function back(own: Position | null, theirs: Position | null): Position | null {
  if (own === null || theirs === null) return own ?? theirs;
  return !sameEpoch(own, theirs) || covers(theirs, own) ? own : earlier(theirs, own);
}

function isRunning({ phase }: Link): boolean {
  return phase.kind !== 'superseded' && phase.kind !== 'signed-out';
}

function isStream(response: Response): boolean {
  const type = response.headers.get('Content-Type') ?? '';
  return response.status === 200 && type.startsWith('text/event-stream');
}
