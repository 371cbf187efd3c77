import { describe, expect, it } from 'vitest';
import { covers, earlier, formatPosition, later, parsePosition } from './position';

const at = (epoch: string, org: number, user: number) => ({ epoch, org, user });

describe('a position', () => {
  it.each(['a1.0.0', '0190-ab_c.12.9007199254740'])('is read and written: %s', (id) => {
    const position = parsePosition(id);
    expect(position && formatPosition(position)).toBe(id);
  });

  it.each([null, '', 'a', 'a.1', 'a.1.', 'a.1.2.3', 'a.-1.2', 'a.x.2', '.1.2', 'a.1.9999999999999999'])(
    'is not %s',
    (id) => {
      expect(parsePosition(id)).toBeNull();
    },
  );

  it.each([
    [at('a', 2, 2), at('a', 2, 2), true],
    [at('a', 3, 2), at('a', 2, 2), true],
    [at('a', 3, 1), at('a', 2, 2), false],
    [at('a', 1, 2), at('a', 2, 2), false],
    [at('b', 9, 9), at('a', 2, 2), false],
  ])('%o covers %o: %s', (here, there, result) => {
    expect(covers(here, there)).toBe(result);
  });

  it('that is earlier misses nothing of both streams', () => {
    expect(earlier(at('a', 3, 1), at('a', 2, 2))).toEqual(at('a', 2, 1));
    expect(later(at('a', 3, 1), at('a', 2, 2))).toEqual(at('a', 3, 2));
  });
});
