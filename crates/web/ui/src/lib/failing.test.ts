import { expect, it } from 'vitest';
import { failsSinceBefore, impactTitle } from './failing';

it('tells since when something fails only where it failed before it came to be as it is', () => {
  const second = (count: number) => new Date(1_800_000_000_000 + count * 1_000).toISOString();
  expect(failsSinceBefore(second(60), second(0))).toBe(second(0));
  expect(failsSinceBefore(second(60), second(60))).toBeNull();
  expect(failsSinceBefore(second(60), second(59))).toBeNull();
  expect(failsSinceBefore(second(60), second(70))).toBeNull();
  expect(failsSinceBefore(second(60), null)).toBeNull();
  expect(failsSinceBefore(second(60), undefined)).toBeNull();
});

it('says of what is down alone that what breaks without it is broken', () => {
  expect(impactTitle('down')).toBe('Impact');
  for (const status of ['degraded', 'unknown', 'healthy', 'skipped']) expect(impactTitle(status)).toBe('If down');
});
