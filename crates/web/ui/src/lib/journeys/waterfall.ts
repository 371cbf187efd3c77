import type { PollerRecord, RunProgress, RunRecord, StepRecord } from '../api/journeys';
import type { Status } from '../status';

/** What is drawn: the record of a run, or how far it is. */
export interface Drawn {
  readonly steps: readonly DrawnStep[];
  readonly pollers: readonly DrawnPoller[];
  readonly events: RunRecord['events'];
  readonly duration_ms: number;
}

type DrawnStep = Omit<StepRecord, 'state'> & { readonly state: StepRecord['state'] | RunProgress['steps'][number]['state'] };
type DrawnPoller = Omit<PollerRecord, 'state'> & { readonly state: PollerRecord['state'] | RunProgress['pollers'][number]['state'] };

/** One line of the waterfall: a step, or what a poller of it did afterwards. */
export interface Bar {
  readonly key: string;
  readonly kind: 'step' | 'poller';
  readonly name: string;
  readonly status: Status;
  readonly word: string;
  /** In milliseconds since the beginning. */
  readonly from: number;
  readonly took: number;
  /** On the axis, from 0 to 1. */
  readonly x: number;
  readonly width: number;
  /** What was not begun takes no place on the axis. */
  readonly stage: 'unbegun' | 'running' | 'ended';
  readonly step: DrawnStep | null;
  readonly poller: DrawnPoller | null;
}

const STEP_LOOKS: Readonly<Record<DrawnStep['state'], Status>> = {
  waiting: 'unknown',
  running: 'unknown',
  passed: 'healthy',
  failed: 'down',
  skipped: 'skipped',
};
const STEP_WORDS: Readonly<Partial<Record<DrawnStep['state'], string>>> = {
  waiting: 'not begun',
  running: 'under way',
};
const POLLER_LOOKS: Readonly<Record<DrawnPoller['state'], Status>> = {
  running: 'unknown',
  ended: 'healthy',
  done: 'healthy',
  timed_out: 'degraded',
  stopped: 'unknown',
  failed: 'down',
};
const POLLER_WORDS: Readonly<Record<DrawnPoller['state'], string>> = {
  running: 'polling',
  ended: 'ended',
  done: 'settled',
  timed_out: 'did not settle, which was to be ignored',
  stopped: 'stopped with the run',
  failed: 'failed',
};
/** Narrower could not be seen. */
const LEAST_WIDTH = 0.004;

/** Every step in the order of the file, each followed by its pollers, on one axis. */
export function bars(record: Omit<Drawn, 'events'>): Bar[] {
  const all = lengthOf(record);
  const place = (from: number, took: number) => {
    const x = Math.min(Math.max(from / all, 0), 1 - LEAST_WIDTH);
    return { x, width: Math.min(Math.max(took / all, LEAST_WIDTH), 1 - x) };
  };
  return record.steps.flatMap((step) => {
    const own: Bar = {
      key: `step ${step.id}`,
      kind: 'step',
      name: step.id,
      status: STEP_LOOKS[step.state],
      word: STEP_WORDS[step.state] ?? step.state,
      stage: stageOf(step.state),
      from: step.offset_ms,
      took: step.duration_ms,
      ...place(step.offset_ms, step.duration_ms),
      step,
      poller: null,
    };
    const pollers = record.pollers
      .filter((poller) => poller.step === step.id)
      .map((poller): Bar => ({
        key: `poller ${String(poller.id)}`,
        kind: 'poller',
        name: `poll of ${step.id}`,
        status: POLLER_LOOKS[poller.state],
        word: POLLER_WORDS[poller.state],
        stage: stageOf(poller.state),
        from: poller.offset_ms,
        took: poller.duration_ms,
        ...place(poller.offset_ms, poller.duration_ms),
        step: null,
        poller,
      }));
    return [own, ...pollers];
  });
}

function stageOf(state: DrawnStep['state'] | DrawnPoller['state']): Bar['stage'] {
  if (state === 'waiting' || state === 'skipped') return 'unbegun';
  return state === 'running' ? 'running' : 'ended';
}

/** Whether there is more to say of it than its line does. */
export function hasDetail({ step, poller }: Pick<Bar, 'step' | 'poller'>): boolean {
  return poller !== null || (step !== null && (step.request !== null || step.error !== null));
}

/** What is under way has gone on for so many milliseconds since it was told. */
export function growing(progress: RunProgress, since: number): Drawn {
  const grown = (one: { readonly state: string; readonly duration_ms: number }) =>
    one.state === 'running' ? one.duration_ms + since : one.duration_ms;
  return {
    duration_ms: progress.elapsed_ms + since,
    events: progress.events,
    steps: progress.steps.map((step) => ({
      ...step,
      duration_ms: grown(step),
      request: null,
      answer: null,
      checks: [],
      captures: {},
    })),
    pollers: progress.pollers.map((poller, index) => ({
      ...poller,
      duration_ms: grown(poller),
      // They are numbered as they begin.
      id: index + 1,
      skipped_count: 0,
      event_count: 0,
      request: null,
      last_value: null,
    })),
  };
}

/** For how long nothing was told of a run that goes on, by the server's clock. */
export function quietFor(startedAt: string | null, progress: RunProgress, now: number): number {
  return startedAt === null ? 0 : Math.max(0, now - Date.parse(startedAt) - progress.elapsed_ms);
}

/** Where the axis ends. */
export function lengthOf({ steps, pollers, duration_ms }: Omit<Drawn, 'events'>): number {
  const ends = [...steps, ...pollers].map((one) => one.offset_ms + one.duration_ms);
  return Math.max(duration_ms, ...ends, 1);
}

const STEPS = [1, 2, 5];
const MOST_TICKS = 6;

/** A word of the axis with the air around it. */
const TICK_WIDTH = 64;

/** Round times along an axis that is so wide: no two of them stand closer than their words. */
export function ticks(length: number, width = TICK_WIDTH * MOST_TICKS): number[] {
  const least = length / Math.min(Math.max(Math.floor(width / TICK_WIDTH), 1), MOST_TICKS);
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 0.001)));
  const step = (STEPS.find((factor) => factor * power >= least) ?? 10) * power;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
}

/** A value of a check as people read it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
