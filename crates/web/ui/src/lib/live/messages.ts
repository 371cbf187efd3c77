import type { Link } from './link';
import type { Position } from './position';

/** Something that happened, as the server told it. */
export interface LiveEvent {
  readonly type: string;
  readonly seq: number;
  /** `org`, or `user:<id>`. */
  readonly stream: string;
  readonly at: string;
  readonly [field: string]: unknown;
}

/** One step of the stream: where it leads, and what happened there. */
export interface Frame {
  /** Where whoever takes it must stand: further back, something is missing in between. */
  readonly before: Position | null;
  readonly to: Position;
  /** Null where only the position moved. */
  readonly event: LiveEvent | null;
  /** The server can't say what happened in between: everything is to be read again. */
  readonly reset: boolean;
}

/** What the one that holds the connection tells all tabs. */
export type Told =
  | {
      readonly kind: 'state';
      /** Another one with each holder of the connection. */
      readonly term: string;
      readonly link: Link;
      readonly position: Position | null;
    }
  | {
      readonly kind: 'frames';
      readonly term: string;
      /** When it came. */
      readonly at: number;
      readonly frames: readonly Frame[];
    };

/** What a tab tells the one that holds the connection. */
export type Asked =
  /** "I am here, and this is how far I know." */
  | { readonly kind: 'hello'; readonly position: Position | null }
  /** "Do not wait: somebody is looking." */
  | { readonly kind: 'try' }
  | { readonly kind: 'take-over' };

export type Message = Told | Asked;

/** All that tabs need to speak with each other; a channel does not hear itself. */
export interface Channel {
  post(message: Message): void;
  /** Names who hears; there is one at a time. */
  hear(hearer: (message: Message) => void): void;
  close(): void;
}
