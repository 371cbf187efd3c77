import { describe, expect, it } from 'vitest';
import { narrow, neighbour } from './filter';

const rows = ['database healthy', 'runtime healthy', 'disk down'];
const by = (filter: string) => narrow(rows, filter, (row) => row.split(' '));

describe('narrow', () => {
  it('keeps all when nothing is typed', () => {
    expect(by('  ')).toEqual(rows);
  });

  it('asks for every word, in any order and case', () => {
    expect(by('HEALTHY data')).toEqual(['database healthy']);
    expect(by('healthy disk')).toEqual([]);
  });

  it('takes signs as they are', () => {
    expect(by('.*')).toEqual([]);
  });
});

describe('neighbour', () => {
  const names = ['a', 'b', 'c'];

  it('walks and holds at both ends', () => {
    expect(neighbour(names, 'a', 1)).toBe('b');
    expect(neighbour(names, 'c', 1)).toBe('c');
    expect(neighbour(names, 'a', -1)).toBe('a');
  });

  it('begins at the end it comes from', () => {
    expect(neighbour(names, null, 1)).toBe('a');
    expect(neighbour(names, null, -1)).toBe('c');
    expect(neighbour(names, 'gone', 1)).toBe('a');
  });

  it('has nowhere to go in an empty list', () => {
    expect(neighbour([], 'a', 1)).toBeNull();
  });
});
