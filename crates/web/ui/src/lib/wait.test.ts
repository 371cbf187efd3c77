import { describe, expect, it } from 'vitest';
import { secondsLeft, waitText } from './wait';

describe('a countdown', () => {
  it.each([
    [10_000, 10],
    [9_001, 10],
    [9_000, 9],
    [1, 1],
    [0, 0],
    [-5_000, 0],
  ])('with %i ms to go says %i', (left, seconds) => {
    expect(secondsLeft(100_000 + left, 100_000, 10)).toBe(seconds);
  });

  it.each([
    [1, '1 s'],
    [99, '99 s'],
    [100, '2 min'],
    [900, '15 min'],
    [3_600, '60 min'],
    [7_200, '2 h'],
    [86_400, '24 h'],
    [7 * 86_400, '7 days'],
  ])('of %i seconds reads as %s', (seconds, text) => {
    expect(waitText(seconds)).toBe(text);
  });

  it('never counts up, even when the clock was set back', () => {
    expect(secondsLeft(100_000, 0, 10)).toBe(10);
  });
});
