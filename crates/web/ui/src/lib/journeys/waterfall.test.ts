import { describe, expect, it } from 'vitest';
import type { PollerRecord, RunProgress, StepRecord } from '../api/journeys';
import { bars, growing, hasDetail, lengthOf, quietFor, shown, ticks } from './waterfall';

const step = (id: string, offset_ms: number, duration_ms: number, state: StepRecord['state'] = 'passed'): StepRecord => ({
  id, state, offset_ms, duration_ms, request: null, answer: null, checks: [], captures: {}, error: null,
});
const poller = (of: string, offset_ms: number, duration_ms: number): PollerRecord => ({
  id: 1, step: of, state: 'failed', offset_ms, duration_ms, poll_count: 3, skipped_count: 0, event_count: 0,
  request: null, last_value: null, error: 'late',
});

describe('the waterfall of a run', () => {
  const record = { steps: [step('a', 0, 100), step('b', 100, 0, 'skipped')], pollers: [poller('a', 100, 300)], duration_ms: 350 };

  it('has each step followed by its pollers, on an axis that holds them all', () => {
    expect(lengthOf(record)).toBe(400);
    const lines = bars(record);
    expect(lines.map(({ key, status }) => `${key} ${status}`)).toEqual(['step a healthy', 'poller 1 down', 'step b skipped']);
    expect(lines.map(({ x, width }) => [x, width])).toEqual([[0, 0.25], [0.25, 0.75], [0.25, 0.004]]);
  });

  it('grows with what is under way, and leaves what has ended as it is', () => {
    const progress: RunProgress = {
      elapsed_ms: 900,
      events: [],
      steps: [
        { id: 'a', state: 'passed', offset_ms: 0, duration_ms: 100, error: null },
        { id: 'b', state: 'running', offset_ms: 400, duration_ms: 500, error: null },
        { id: 'c', state: 'waiting', offset_ms: 0, duration_ms: 0, error: null },
      ],
      pollers: [{ step: 'a', state: 'running', offset_ms: 100, duration_ms: 800, poll_count: 2, error: null }],
    };
    const drawn = growing(progress, 100);
    expect(drawn.duration_ms).toBe(1_000);
    expect(bars(drawn).map(({ key, word, stage, took }) => `${key} ${word} ${stage} ${String(took)}`)).toEqual([
      'step a passed ended 100', 'poller 1 polling running 900', 'step b under way running 600', 'step c not begun unbegun 0',
    ]);
    expect(bars(drawn).map(hasDetail)).toEqual([false, true, false, false]);
    expect(bars({ ...record, steps: [{ ...step('a', 0, 1, 'skipped'), error: 'late' }] }).map(hasDetail)).toEqual([true, true]);
    expect(bars(record).map(({ stage }) => stage)).toEqual(['ended', 'ended', 'unbegun']);
    const began = '2026-11-18T12:00:00.000Z';
    expect(quietFor(began, progress, Date.parse(began) + 1_500)).toBe(600);
    expect([quietFor(began, progress, Date.parse(began)), quietFor(null, progress, 1e15)]).toEqual([0, 0]);
  });

  it('never leaves the axis', () => {
    const lines = bars({ steps: [step('a', -5, 1), step('b', 1e9, 1)], pollers: [], duration_ms: 0 });
    for (const { x, width } of lines) expect(x >= 0 && x + width <= 1).toBe(true);
    expect(bars({ steps: [], pollers: [], duration_ms: 0 })).toEqual([]);
  });

  it('has few round ticks', () => {
    expect(ticks(400)).toEqual([0, 100, 200, 300, 400]);
    for (const length of [1, 7, 33, 999, 61_000, 3_600_000]) {
      expect(ticks(length).length).toBeLessThanOrEqual(8);
      expect(ticks(length).length).toBeGreaterThan(2);
    }
  });

  it('has only as many ticks as there is room for', () => {
    expect(ticks(400, 140)).toEqual([0, 200, 400]);
    expect(ticks(400, 20)).toEqual([0]);
    expect(ticks(400, 0)).toEqual([0]);
    for (const length of [1, 7, 33, 999, 61_000, 3_600_000]) {
      for (const width of [60, 140, 300, 1_200]) {
        const [, step = length] = ticks(length, width);
        expect((step / length) * Math.max(width, 64)).toBeGreaterThanOrEqual(63.99);
      }
    }
  });

  it('shows what was got and expected as it is', () => {
    expect([shown(undefined), shown(null), shown('a'), shown(503), shown({ a: 1 })]).toEqual(['nothing', 'nothing', 'a', '503', '{"a":1}']);
  });
});
