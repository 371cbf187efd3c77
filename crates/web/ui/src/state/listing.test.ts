import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Slice } from '../lib/api/accounts';
import type { Answer } from '../lib/api/client';
import { Listing } from './listing.svelte';

interface Item { readonly id: string }

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A list whose answers come when a test lets them. */
function open() {
  const asked: { cursor: string | null; answer: (ids: string, next?: string) => Promise<void> }[] = [];
  const listing = new Listing<Item>((cursor) =>
    new Promise<Answer<Slice<Item>>>((resolve) => {
      asked.push({
        cursor,
        answer: async (ids, next) => {
          const items = [...ids].map((id) => ({ id }));
          resolve({ ok: true, value: { items, next_cursor: next ?? null }, sentAt: 0, gotAt: 0 });
          await vi.advanceTimersByTimeAsync(0);
        },
      });
    }),
  );
  const shown = () => listing.items?.map(({ id }) => id).join('') ?? null;
  return { asked, listing, shown };
}

describe('a list that is asked for while it is read', () => {
  it('is read once more, however often it was asked for', async () => {
    const { asked, listing, shown } = open();
    void listing.read();
    for (let each = 0; each < 5; each += 1) void listing.read();
    expect(asked).toHaveLength(1);
    await asked[0]?.answer('a');
    expect(asked).toHaveLength(2);
    await asked[1]?.answer('ba');
    expect([asked.length, shown(), listing.reading]).toEqual([2, 'ba', false]);
  });

  it('has its next page and then what happened meanwhile', async () => {
    const { asked, listing, shown } = open();
    void listing.read();
    await asked[0]?.answer('ab', 'b');
    void listing.readMore();
    void listing.read();
    expect(asked.map(({ cursor }) => cursor)).toEqual([null, 'b']);
    await asked[1]?.answer('cd');
    expect(shown()).toBe('abcd');
    await asked[2]?.answer('xab', 'b');
    expect(shown()).toBe('xabcd');
  });

  it('does not grow with what happens, until somebody loads more', async () => {
    const { asked, listing, shown } = open();
    void listing.read();
    await asked[0]?.answer('cde', 'e');
    void listing.read();
    await asked[1]?.answer('bcd', 'd');
    expect(shown()).toBe('bcd');
    void listing.readMore();
    await asked[2]?.answer('ef', 'f');
    void listing.read();
    await asked[3]?.answer('abc', 'c');
    expect(shown()).toBe('abcdef');
  });

  it('forgets what was loaded when there is a gap, and does not grow again', async () => {
    const { asked, listing, shown } = open();
    void listing.read();
    await asked[0]?.answer('cde', 'e');
    void listing.readMore();
    await asked[1]?.answer('fg', 'g');
    void listing.read();
    await asked[2]?.answer('xyz', 'z');
    void listing.read();
    await asked[3]?.answer('wxy', 'y');
    expect(shown()).toBe('wxy');
  });

  it('begins anew without what another list was asked for', async () => {
    const { asked, listing, shown } = open();
    void listing.read();
    void listing.read();
    listing.restart();
    await asked[0]?.answer('old');
    expect(shown()).toBeNull();
    await asked[1]?.answer('n');
    expect([asked.length, shown()]).toEqual([2, 'n']);
  });
});
