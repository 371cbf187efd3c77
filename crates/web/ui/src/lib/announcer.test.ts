import { describe, expect, it } from 'vitest';
import { announce, release, silent } from './announcer';

describe('the announcer', () => {
  it('speaks at once when it was quiet', () => {
    expect(announce(silent, 'database is down', 0).text).toBe('database is down');
  });

  it('speaks at most once in five seconds, and then the newest', () => {
    let line = announce(silent, 'one', 0);
    line = announce(line, 'two', 1_000);
    line = announce(line, 'three', 2_000);
    expect(line.text).toBe('one');
    expect(release(line, 4_999).text).toBe('one');
    expect(release(line, 5_000)).toEqual({ text: 'three', spokenAt: 5_000, pending: null });
  });

  it('speaks of a cause, not of those that it takes down, whichever comes first', () => {
    let line = announce(silent, 'one is down', 0, 'small');
    line = announce(line, 'two is down', 1_000, 'small');
    line = announce(line, 'the cause is down', 2_000);
    line = announce(line, 'three is down', 3_000, 'small');
    line = release(line, 5_000);
    expect([line.text, line.pending]).toEqual(['the cause is down', null]);
    line = announce(line, 'four is down', 6_000, 'small');
    expect(release(line, 10_000).text).toBe('four is down');
  });

  it('speaks of the newest cause', () => {
    let line = announce(silent, 'one', 0);
    line = announce(line, 'two', 1_000);
    line = announce(line, 'three', 2_000);
    expect(release(line, 5_000).text).toBe('three');
  });

  it('stays as it is when nothing waits', () => {
    const line = announce(silent, 'one', 0);
    expect(release(line, 60_000)).toBe(line);
  });

  it('goes on when the clock is set back', () => {
    const line = announce(announce(silent, 'one', 100_000), 'two', 1_000);
    expect(line.text).toBe('two');
  });
});
