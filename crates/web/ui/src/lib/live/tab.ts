import { follow, NEW, overdue, type Follower, type Reload, type Step } from './follow';
import type { Known } from './hold';
import { isDue, type Link } from './link';
import type { Channel, LiveEvent, Message } from './messages';

/** Who is told what came. */
export interface Ears {
  readonly changed: (link: Link | null) => void;
  readonly happened: (events: readonly LiveEvent[], reload: Reload | null) => void;
}

/** One tab's part in the shared stream. It does not know who holds the connection. */
export class Tab {
  readonly #channel: Channel;
  readonly #ears: Ears;
  readonly #now: () => number;
  #follower: Follower = NEW;

  constructor(channel: Channel, ears: Ears, now: () => number) {
    this.#channel = channel;
    this.#ears = ears;
    this.#now = now;
  }

  /** What a holder goes on from. */
  get known(): Known {
    return { position: this.#follower.position, link: this.#follower.link };
  }

  start(): void {
    this.#channel.hear((message) => {
      this.#hear(message);
    });
    this.#hello();
  }

  stop(): void {
    this.#channel.close();
  }

  /** Takes the connection back from another browser. */
  takeOver(): void {
    this.#channel.post({ kind: 'take-over' });
  }

  /** Tries at once what would be tried later. */
  tryNow(): void {
    this.#channel.post({ kind: 'try' });
  }

  /** Looks at the clock. `seen` is whether somebody looks at this tab. */
  tick(seen: boolean): void {
    const now = this.#now();
    const step = overdue(this.#follower, now);
    if (step !== null) this.#take(step);
    const { link } = this.#follower;
    // The clocks of tabs that nobody looks at are slowed down, and one of those may be the holder. Nor does the
    // holder know that somebody waits here.
    if (seen && link !== null && isDue(link, now, seen)) this.tryNow();
  }

  #hear(message: Message): void {
    if (message.kind !== 'state' && message.kind !== 'frames') return;
    this.#take(follow(this.#follower, message, this.#now()));
  }

  #take({ follower, events, reload, hello }: Step): void {
    this.#follower = follower;
    if (hello) this.#hello();
    this.#ears.changed(follower.link);
    this.#ears.happened(events, reload);
  }

  #hello(): void {
    this.#channel.post({ kind: 'hello', position: this.#follower.position });
  }
}
