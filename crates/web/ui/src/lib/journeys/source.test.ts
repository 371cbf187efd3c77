import { describe, expect, it } from 'vitest';
import type { Mistake } from '../api/journeys';
import { byLine, indented, lineCount, mistakeText, offsetOf } from './source';

const mistake = (line: number, nearest: string | null = null): Mistake => ({
  line, column: 1, path: 'steps[0].expct', message: 'there is no such key', nearest,
});

describe('the source of a journey', () => {
  it('has its mistakes at their lines', () => {
    const lines = byLine([mistake(2), mistake(2), mistake(99)], 3);
    expect([...lines].map(([line, all]) => [line, all.length])).toEqual([[2, 2], [3, 1]]);
    expect(mistakeText(mistake(1, 'expect'))).toBe('steps[0].expct: there is no such key; did you mean expect?');
    expect(mistakeText({ ...mistake(1), path: '' })).toBe('there is no such key');
  });

  it('finds a place in its text', () => {
    const source = 'ab\ncde\n';
    expect(lineCount(source)).toBe(3);
    for (const [line, column, offset] of [[1, 1, 0], [2, 2, 4], [2, 99, 6], [9, 9, 7], [0, 0, 0]] as const) {
      expect(offsetOf(source, line, column)).toBe(offset);
    }
  });

  it('is moved by two spaces, and back', () => {
    expect(indented('ab', 1, 1, false)).toEqual({ source: 'a  b', from: 3, to: 3 });
    expect(indented('a\nb', 0, 3, false)).toEqual({ source: '  a\n  b', from: 2, to: 7 });
    expect(indented('  a\n b', 2, 6, true)).toEqual({ source: 'a\nb', from: 0, to: 3 });
  });
});
