import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { atOnce, BRISK_PAUSE_MS, calmly, GATHER_MS, PAUSE_MS, RETRY_MS } from './calmly';

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

it('runs at once where nobody has to gather, and pauses between its tries until one brings something', async () => {
  const run = vi.fn(() => Promise.resolve(run.mock.calls.length > 3));
  atOnce(run);
  expect(run).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(RETRY_MS - 1);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1 + RETRY_MS);
  expect(run).toHaveBeenCalledTimes(4);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(4);
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

it('runs once for each thing that happens, and keeps its pause after what came before', async () => {
  const run = vi.fn(() => Promise.resolve());
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  // Within the pause: it is read for, but not before the pause is over.
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  calm.ask();
  await vi.advanceTimersByTimeAsync(PAUSE_MS - GATHER_MS - 1);
  expect(run).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(2);
});

it('does not make what happens wait for another try', async () => {
  const run = vi.fn(() => Promise.resolve(run.mock.calls.length > 1));
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  calm.ask();
  await vi.advanceTimersByTimeAsync(PAUSE_MS);
  expect(run).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(run).toHaveBeenCalledTimes(2);
});

it('leaves nothing unread of what happens at any time', async () => {
  // Each read shows what had happened when it began.
  for (const takes of [0, 40, 400, 2_500]) {
    let [happened, shown] = [0, 0];
    const calm = calmly(async () => {
      const seen = happened;
      await new Promise((resolve) => setTimeout(resolve, takes));
      shown = seen;
    });
    for (let at = 0; at < 300; at += 1) {
      happened += 1;
      calm.ask();
      await vi.advanceTimersByTimeAsync((at * 97) % 731);
    }
    await vi.advanceTimersByTimeAsync(2 * takes + GATHER_MS + PAUSE_MS);
    expect(shown).toBe(happened);
    calm.stop();
  }
});

it('goes on after a run that broke', async () => {
  const broken = new Error('broken');
  const caught = vi.fn();
  process.on('unhandledRejection', caught);
  const run = vi.fn(() => (run.mock.calls.length === 1 ? Promise.reject(broken) : Promise.resolve()));
  const calm = calmly(run);
  calm.ask();
  await vi.advanceTimersByTimeAsync(GATHER_MS + RETRY_MS);
  expect(run).toHaveBeenCalledTimes(2);
  process.off('unhandledRejection', caught);
});

it('shows what happened within two seconds, whenever during a read that was', async () => {
  const TAKES_MS = 800;
  for (let at = 0; at <= TAKES_MS; at += 50) {
    let [happened, shown] = [0, 0];
    const calm = calmly(async () => {
      const seen = happened;
      await new Promise((resolve) => setTimeout(resolve, TAKES_MS));
      shown = seen;
    }, BRISK_PAUSE_MS);
    calm.ask();
    await vi.advanceTimersByTimeAsync(GATHER_MS + at);
    happened = 1;
    calm.ask();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(shown, `${String(at)} ms after the read began`).toBe(1);
    calm.stop();
  }
});
