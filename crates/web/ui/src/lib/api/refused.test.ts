import { expect, it } from 'vitest';
import { isRefused } from './refused';

const failure = (status: number | null) => ({
  title: 'The question is not understood',
  detail: '',
  requestId: null,
  code: null,
  status,
  retryAfter: null,
});

it.each([
  [400, true, true],
  [404, true, true],
  [400, false, false],
  [401, true, false],
  [503, true, false],
  [null, true, false],
])('an answer %s to a narrowed question (%s) is a refusal of it: %s', (status, narrowed, refused) => {
  expect(isRefused(failure(status), narrowed)).toBe(refused);
});

it('is no refusal where nothing failed', () => {
  expect(isRefused(null, true)).toBe(false);
});
