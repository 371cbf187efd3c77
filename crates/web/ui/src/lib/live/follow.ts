import type { Link } from './link';
import type { Frame, LiveEvent, Told } from './messages';
import { covers, later, sameEpoch, type Position } from './position';

/** What one tab knows of the stream. */
export interface Follower {
  readonly position: Position | null;
  readonly link: Link | null;
  /** The holder of the connection that was heard last. */
  readonly term: string | null;
  /** Since when something is known to be missing. */
  readonly behindSince: number | null;
}

/** Why everything is read again: the tab knows from now on, or can't know what it missed. */
export type Reload = 'joined' | 'reset';

export interface Step {
  readonly follower: Follower;
  /** What happened, each thing once and in its order. */
  readonly events: readonly LiveEvent[];
  readonly reload: Reload | null;
  /** Says where it stands, so that it is given what it misses. */
  readonly hello: boolean;
}

/** Who misses something and is not given it for so long reads everything again. */
export const BEHIND_LIMIT_MS = 10_000;

export const NEW: Follower = { position: null, link: null, term: null, behindSince: null };

export function follow(follower: Follower, told: Told, now: number): Step {
  return told.kind === 'state' ? takeState(follower, told, now) : takeFrames(follower, told, now);
}

/** Gives up on what never came. Called from time to time. */
export function overdue(follower: Follower, now: number): Step | null {
  const { behindSince, position } = follower;
  if (behindSince === null || Math.abs(now - behindSince) <= BEHIND_LIMIT_MS) return null;
  // Without a position it takes the next one it hears of.
  const fresh = position === null ? follower : { ...follower, position: null };
  return { follower: { ...fresh, behindSince: null }, events: [], reload: 'reset', hello: true };
}

function takeState(
  before: Follower,
  { term, link, position }: Extract<Told, { kind: 'state' }>,
  now: number,
): Step {
  const isNew = term !== before.term;
  const follower = { ...before, term, link };
  const step = { follower, events: [], reload: null, hello: isNew && before.position !== null };
  if (position === null) return step;
  const { position: own } = follower;
  if (own === null || !sameEpoch(own, position)) {
    const moved = { ...follower, position, behindSince: null };
    return { ...step, follower: moved, reload: own === null ? 'joined' : 'reset', hello: false };
  }
  return covers(own, position) ? step : missing(step, now);
}

function takeFrames(
  before: Follower,
  { term, at, frames }: Extract<Told, { kind: 'frames' }>,
  now: number,
): Step {
  const link = before.link && { ...before.link, heardAt: at };
  let step: Step = {
    follower: { ...before, term, link },
    events: [],
    reload: null,
    hello: term !== before.term && before.position !== null,
  };
  for (const frame of frames) {
    const next = takeFrame(step, frame);
    if (next === null) return missing(step, now);
    step = next;
  }
  return step;
}

/** Null when something before the frame is missing. */
function takeFrame(step: Step, { before, to, event, reset }: Frame): Step | null {
  const { position } = step.follower;
  const moved = (there: Position) => ({ ...step.follower, position: there, behindSince: null });
  if (reset || (position !== null && !sameEpoch(position, to))) {
    return { ...step, follower: moved(to), reload: 'reset' };
  }
  const events = event === null ? step.events : [...step.events, event];
  if (position === null) {
    return { ...step, follower: moved(to), events, reload: step.reload ?? 'joined' };
  }
  if (covers(position, to)) return step;
  if (before === null || !covers(position, before)) return null;
  // What is told a second time may put the two streams side by side in another way.
  return { ...step, follower: moved(later(position, to)), events };
}

/** It says so once: what was on its way already does not help. */
function missing(step: Step, now: number): Step {
  const first = step.follower.behindSince === null;
  const behindSince = step.follower.behindSince ?? now;
  return { ...step, follower: { ...step.follower, behindSince }, hello: step.hello || first };
}
