import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Arrival, isHeard, LONG_MS, MOMENT_MS } from './arrival.svelte';

/** A load whose end the test decides, one after the other. */
class Loads {
  readonly begun: { come: (value: string) => void; fail: () => void }[] = [];

  readonly load = () =>
    new Promise<string>((resolve, reject) => {
      this.begun.push({
        come: resolve,
        fail: () => {
          reject(new TypeError('Failed to fetch'));
        },
      });
    });

  async come(value: string): Promise<void> {
    this.begun.at(-1)?.come(value);
    await settled();
  }

  async fail(): Promise<void> {
    this.begun.at(-1)?.fail();
    await settled();
  }
}

async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function begin() {
  const loads = new Loads();
  const arrival = new Arrival(loads.load);
  const stop = arrival.run();
  return { loads, arrival, stop };
}

describe('what is waited for', () => {
  it('draws nothing at first, then a skeleton, then says whom it waits for', async () => {
    const { loads, arrival } = begin();
    vi.advanceTimersByTime(MOMENT_MS - 1);
    expect(arrival.wait).toBe('none');
    vi.advanceTimersByTime(1);
    expect(arrival.wait).toBe('moment');
    vi.advanceTimersByTime(LONG_MS - MOMENT_MS);
    expect(arrival.wait).toBe('long');
    await loads.come('page');
    expect([arrival.value, arrival.wait, arrival.failed]).toEqual(['page', 'none', false]);
  });

  it('is nobody’s once it was left', async () => {
    const { loads, arrival, stop } = begin();
    stop();
    vi.advanceTimersByTime(LONG_MS);
    await loads.come('page');
    expect([arrival.value, arrival.wait]).toEqual([null, 'none']);
  });
});

describe('what failed', () => {
  it('comes once the server is heard again', async () => {
    const { loads, arrival } = begin();
    arrival.hear(false);
    await loads.fail();
    expect(arrival.failed).toBe(true);
    arrival.hear(true);
    expect(arrival.failed).toBe(false);
    await loads.come('page');
    expect(arrival.value).toBe('page');
  });

  it('is tried again when it fails only after the server is heard again', async () => {
    const { loads, arrival } = begin();
    arrival.hear(false);
    arrival.hear(true);
    await loads.fail();
    expect([loads.begun.length, arrival.failed]).toEqual([2, false]);
    await loads.fail();
    expect([loads.begun.length, arrival.failed]).toEqual([2, true]);
  });

  it('stays failed while the server was heard all the time', async () => {
    const { loads, arrival } = begin();
    arrival.hear(true);
    await loads.fail();
    arrival.hear(true);
    expect([loads.begun.length, arrival.failed]).toEqual([1, true]);
  });

  it('is tried again without a word, and what is said of it stays until it came', async () => {
    const { loads, arrival } = begin();
    await loads.fail();
    const second = arrival.retry();
    vi.advanceTimersByTime(LONG_MS);
    expect([arrival.failed, arrival.wait]).toEqual([true, 'none']);
    await loads.fail();
    expect([await second, arrival.failed]).toEqual([false, true]);
    const third = arrival.retry();
    await loads.come('page');
    expect([await third, arrival.failed, arrival.value]).toEqual([true, false, 'page']);
  });

  it('is loaded again by hand, which says whether it came', async () => {
    const { loads, arrival } = begin();
    await loads.fail();
    const second = arrival.load();
    await loads.fail();
    expect(await second).toBe(false);
    const third = arrival.load();
    await loads.come('page');
    expect(await third).toBe(true);
  });
});

it.each([
  [{ kind: 'live' }, true],
  [{ kind: 'superseded', since: 0 }, true],
  [{ kind: 'connecting' }, false],
  [{ kind: 'reconnecting', seconds: 1 }, false],
  [{ kind: 'stale', seconds: 31, since: 0 }, false],
] as const)('hears %o: %s', (light, heard) => {
  expect(isHeard(light)).toBe(heard);
});
