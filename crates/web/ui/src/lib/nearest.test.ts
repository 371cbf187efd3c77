import { describe, expect, it } from 'vitest';
import { nearest } from './nearest';

const KNOWN = ['status', 'team', 'breaker', 'is', 'dep', 'p95', 'interval'];

describe('nearest', () => {
  it.each([
    ['statsu', 'status'],
    ['staus', 'status'],
    ['braker', 'breaker'],
    ['intervall', 'interval'],
    ['p59', 'p95'],
    ['deps', 'dep'],
    ['colour', null],
  ])('of %s is %s', (word, found) => {
    expect(nearest(word, KNOWN)).toBe(found);
  });

  it('is not sought for what nobody mistypes', () => {
    expect(nearest('x'.repeat(5_000), KNOWN)).toBeNull();
  });
});
