import { parse } from '../api/client';
import type { Frame, LiveEvent } from './messages';
import { covers, parsePosition, type Position } from './position';
import type { Block } from './sse';

/** What a block of the stream means. */
export type Meaning =
  | { readonly kind: 'frame'; readonly frame: Frame }
  /** Another browser took the connection. */
  | { readonly kind: 'superseded' }
  /** The session is over. */
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'nothing' };

const NOTHING: Meaning = { kind: 'nothing' };

/** Reads a block that came to somebody who stood at `before`. */
export function meaning(block: Block, before: Position | null): Meaning {
  switch (block.event) {
    case 'superseded':
      return { kind: 'superseded' };
    case 'auth_expired':
      return { kind: 'signed-out' };
    case 'snapshot':
      // Who had a position and is not told what came after it can't know what is missing.
      return begins(block, before, before !== null);
    case 'reset':
      return begins(block, before, true);
    case 'message':
      return moves(block, before);
    default:
      return NOTHING;
  }
}

function begins(block: Block, before: Position | null, reset: boolean): Meaning {
  const named = parse(block.data ?? '')?.['position'];
  const to = parsePosition(typeof named === 'string' ? named : block.id);
  if (to === null) return NOTHING;
  return { kind: 'frame', frame: { before, to, event: null, reset } };
}

function moves(block: Block, before: Position | null): Meaning {
  const to = parsePosition(block.id);
  if (to === null) return NOTHING;
  const event = eventOf(block.data);
  // Most signs of life come where nothing happened.
  if (event === null && before !== null && covers(before, to)) return NOTHING;
  return { kind: 'frame', frame: { before, to, event, reset: false } };
}

function eventOf(data: string | null): LiveEvent | null {
  const body = parse(data ?? '');
  if (body === null || typeof body['type'] !== 'string') return null;
  return body as unknown as LiveEvent;
}
