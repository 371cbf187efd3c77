import { describe, expect, it } from 'vitest';
import { acceptOf, bytes, fitting, LIMITS, problemOf, WAITING_LIMIT } from './transcripts';

const MOST = LIMITS.max_file_bytes;

describe('a chosen file', () => {
  it.each([
    ['call.txt', 1],
    ['Call.VTT', 500],
    ['a.b.txt', MOST],
    ['.txt', 3],
    ['звонок.vtt', 9],
  ])('%s of %i bytes is fine', (name, size) => {
    expect(problemOf({ name, size }, LIMITS)).toBeNull();
  });

  it.each([
    ['call.pdf', 10, '.txt or .vtt'],
    ['call', 10, '.txt or .vtt'],
    ['call.txt.exe', 10, '.txt or .vtt'],
    ['txt', 10, '.txt or .vtt'],
    ['', 0, '.txt or .vtt'],
    ['call.txt', 0, 'empty'],
    ['call.txt', MOST + 1, '10.1\u00a0MB, and a transcript may have 10\u00a0MB'],
  ])('%s of %i bytes is not', (name, size, says) => {
    expect(problemOf({ name, size }, LIMITS)).toContain(says);
  });

  it('is judged by what the server says', () => {
    const limits = { max_file_bytes: 5, extensions: ['md'] };
    expect(problemOf({ name: 'a.md', size: 5 }, limits)).toBeNull();
    expect(problemOf({ name: 'a.txt', size: 5 }, limits)).toContain('.md');
    expect(acceptOf(limits)).toBe('.md');
  });
});

it('takes no more than the queue has room for', () => {
  const many = Array.from({ length: WAITING_LIMIT + 3 }, (_, at) => at);
  expect(fitting(many, 0)).toEqual({ taken: many.slice(0, WAITING_LIMIT), left: 3 });
  expect(fitting([1, 2], WAITING_LIMIT - 1)).toEqual({ taken: [1], left: 1 });
  expect(fitting([1], WAITING_LIMIT)).toEqual({ taken: [], left: 1 });
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [900, '900 bytes'],
  [2_048, '2 kB'],
  [1_048_576, '1 MB'],
  [10_485_760, '10 MB'],
  [10_485_761, '10.1 MB'],
])('says %i bytes as %s', (size, text) => {
  expect(bytes(size).replace('\u00a0', ' ')).toBe(text);
});
