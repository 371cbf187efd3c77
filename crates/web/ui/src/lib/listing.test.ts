import { describe, expect, it } from 'vitest';
import { extended, refreshed } from './listing';

const slice = (ids: string, next_cursor: string | null = null, version = 1) => ({
  items: Array.from(ids, (id) => ({ id, version })),
  next_cursor,
});
const MANY = 100;
const ids = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id).join('');

describe('a list that is read again', () => {
  it('is what came, when it came whole', () => {
    expect(refreshed(null, slice('abc'), MANY)).toEqual(slice('abc'));
    expect(ids(refreshed(slice('abc'), slice('ac'), MANY))).toBe('ac');
    expect(ids(refreshed(slice('abc'), slice(''), MANY))).toBe('');
  });

  it('keeps the pages beyond the first, and where they end', () => {
    const got = refreshed(slice('cdefg', 'after g'), slice('bcd', 'after d', 2), MANY);
    expect(ids(got)).toBe('bcdefg');
    expect(got.next_cursor).toBe('after g');
    expect(got.items.map(({ version }) => version)).toEqual([2, 2, 2, 1, 1, 1]);
  });

  it('begins anew where there is a gap', () => {
    const got = refreshed(slice('efg', 'after g'), slice('abc', 'after c'), MANY);
    expect(ids(got)).toBe('abc');
    expect(got.next_cursor).toBe('after c');
  });

  it('begins anew where it would hold too much', () => {
    const [old, fresh] = [slice('cdefg', 'after g'), slice('bcd', 'after d')];
    expect(ids(refreshed(old, fresh, 6))).toBe('bcdefg');
    expect(refreshed(old, fresh, 5)).toBe(fresh);
  });

  it('shows nothing twice that has moved up', () => {
    expect(ids(refreshed(slice('abcd', 'x'), slice('dab', 'y'), MANY))).toBe('dabc');
  });
});

describe('a list with its next page', () => {
  it('goes on where it ended', () => {
    const got = extended(slice('ab', 'after b'), slice('cd', null));
    expect(ids(got)).toBe('abcd');
    expect(got.next_cursor).toBeNull();
  });

  it('shows nothing twice', () => {
    expect(ids(extended(slice('ab'), slice('bc')))).toBe('abc');
    expect(ids(extended(null, slice('bc')))).toBe('bc');
  });
});
