import { describe, expect, it } from 'vitest';
import { at, format, parse, VALUE_LIMIT } from './route';

describe('route', () => {
  it.each([
    ['/', 'now'],
    ['', 'now'],
    ['/system', 'system'],
    ['/system/', 'system'],
    ['/System', 'missing'],
    ['/nowhere', 'missing'],
    ['/system/deeper', 'missing'],
  ])('reads the page of %s', (path, page) => {
    expect(parse(path, '').page).toBe(page);
  });

  it('brings back every state it wrote', () => {
    const states = [
      at('now'),
      at('system'),
      { ...at('system'), filter: 'a b&c=ü/?#' },
      { ...at('system'), row: 'database' },
      { ...at('system'), filter: 'data', row: 'data base', inspector: true },
    ];
    for (const state of states) {
      const { pathname, search } = new URL(format(state) ?? '', 'http://localhost');
      expect(parse(pathname, search)).toEqual(state);
    }
  });

  it('writes nothing that is not needed', () => {
    expect(format(at('system'))).toBe('/system');
    expect(format({ ...at('system'), inspector: true })).toBe('/system');
  });

  it('opens no inspector without a row', () => {
    expect(parse('/system', '?inspector=open').inspector).toBe(false);
  });

  it('cuts what is too long and drops what it does not know', () => {
    const route = parse('/system', `?filter=${'x'.repeat(5_000)}&evil=1`);
    expect(route.filter).toHaveLength(VALUE_LIMIT);
    expect(format(route)).not.toContain('evil');
  });

  it('has no address for a page that does not exist', () => {
    expect(format(at('missing'))).toBeNull();
  });
});
