import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Rested, RESTS_MS } from './rested.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('tells nothing of what a hand passes by, and once where it rests, as it is then', () => {
  const told = new Rested();
  for (let at = 0; at < 60; at += 1) {
    told.tellAtRest(() => `moment ${String(at)}`);
    vi.advanceTimersByTime(16);
    expect(told.text).toBe('');
  }
  vi.advanceTimersByTime(RESTS_MS);
  expect(told.text).toBe('moment 59');
});

it('lets what was told stand while it plays', () => {
  const told = new Rested();
  told.tell('before');
  told.tellAtRest(() => 'begun');
  told.wait();
  vi.advanceTimersByTime(60_000);
  expect(told.text).toBe('before');
});

it('tells what is asked for at once, and nothing older after it', () => {
  const told = new Rested();
  told.tellAtRest(() => 'older');
  told.tell('another');
  vi.advanceTimersByTime(RESTS_MS);
  expect(told.text).toBe('another');
});
