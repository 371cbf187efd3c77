import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { calmly, GATHER_MS, PAUSE_MS, RETRY_MS } from './calmly';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A run that ends when it is told to. */
function slow() {
  const ends: (() => void)[] = [];
  const run = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const end = async () => {
    ends.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { run, end };
}

it('runs once for all that happens together', async () => {
  const { run } = slow();
  const calm = calmly(run);
  for (let each = 0; each < 100; each += 1) calm.ask();
  expect(run).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(run).toHaveBeenCalledTimes(1);
});

it('runs again after a pause for what happened while it ran', async () => {
  const { run, end } = slow();
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  calm.ask();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(1);
  await end();
  await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
  expect(run).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(run).toHaveBeenCalledTimes(2);
});

it('does not run again by itself', async () => {
  const { run, end } = slow();
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  await end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(1);
});

it('tries again after a run that brought nothing, until one does', async () => {
  const run = vi.fn(() => Promise.resolve(run.mock.calls.length > 2));
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(run).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2 * RETRY_MS);
  expect(run).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(3);
});

it('runs no more once it is stopped', async () => {
  const { run, end } = slow();
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  calm.ask();
  calm.stop();
  await end();
  calm.ask();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(1);
});
