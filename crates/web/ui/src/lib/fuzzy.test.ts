import { describe, expect, it } from 'vitest';
import { match, NEEDLE_LIMIT } from './fuzzy';

describe('match', () => {
  it('finds letters in order, whatever their case', () => {
    expect(match('GTS', 'Go to System')?.positions).toEqual([0, 3, 6]);
  });

  it('refuses letters that are missing or out of order', () => {
    expect(match('zz', 'Go to System')).toBeNull();
    expect(match('metsys', 'System')).toBeNull();
  });

  it('prefers letters in a row over scattered ones', () => {
    expect(match('sys', 'Go to System')?.positions).toEqual([6, 7, 8]);
  });

  it('takes the best place, not the first', () => {
    expect(match('now', 'Go to Now')?.positions).toEqual([6, 7, 8]);
  });

  it("does not lose a match to a word's beginning that leads nowhere", () => {
    expect(match('sts', 'Systems t')?.positions).toEqual([0, 3, 6]);
  });

  it('takes an empty needle as a match of nothing', () => {
    expect(match('  ', 'System')).toEqual({ score: 0, positions: [] });
  });

  it('cuts an endless needle', () => {
    const long = 'a'.repeat(NEEDLE_LIMIT + 50);
    expect(match(long, 'a'.repeat(NEEDLE_LIMIT))?.positions).toHaveLength(NEEDLE_LIMIT);
  });

  it('counts letters beyond the basic plane as one', () => {
    expect(match('b', '🌊b')?.positions).toEqual([1]);
  });
});
