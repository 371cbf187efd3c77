import { describe, expect, it } from 'vitest';
import { BINDINGS, closes, keysOf, LOCAL_KEYS, press, SEQUENCE_MS, type Press } from './keys';

const key = (name: string, more: Partial<Press> = {}): Press => ({
  key: name,
  mod: false,
  alt: false,
  typing: false,
  onControl: false,
  now: 0,
  ...more,
});
const command = (event: Press) => press(null, event).command;

describe('keys', () => {
  it('opens the palette from anywhere, also while typing', () => {
    expect(command(key('k', { mod: true, typing: true }))).toBe('palette');
    expect(command(key('K', { mod: true }))).toBe('palette');
  });

  it("leaves the browser's own keys alone", () => {
    expect(command(key('t', { mod: true }))).toBeNull();
    expect(command(key('d', { alt: true }))).toBeNull();
  });

  it('is deaf while somebody types, except for Escape', () => {
    expect(command(key('?', { typing: true }))).toBeNull();
    expect(press(null, key('g', { typing: true })).awaiting).toBeNull();
    expect(command(key('Escape', { typing: true }))).toBe('close');
  });

  it('follows a sequence', () => {
    const { command: first, awaiting } = press(null, key('g'));
    expect(first).toBeNull();
    expect(press(awaiting, key('s', { now: 500 }))).toEqual({
      command: 'go-services',
      awaiting: null,
    });
  });

  it('forgets a sequence that took too long or went elsewhere', () => {
    const { awaiting } = press(null, key('g'));
    expect(press(awaiting, key('n', { now: SEQUENCE_MS + 1 })).command).toBeNull();
    expect(press(awaiting, key('x', { now: 1 }))).toEqual({ command: null, awaiting: null });
  });

  it('leaves Enter and Space to the control that has the focus', () => {
    expect(command(key('Enter'))).toBe('open');
    expect(command(key(' '))).toBe('open');
    expect(command(key('Enter', { onControl: true }))).toBeNull();
  });

  it('binds no key twice', () => {
    const all = BINDINGS.map(({ keys }) => keys.join(' '));
    expect(new Set(all).size).toBe(all.length);
    const single = BINDINGS.filter(({ keys }) => keys.length === 1).map(({ keys }) => keys[0]);
    expect(single).not.toContain('g');
  });

  it("names the platform's key", () => {
    expect(keysOf('palette', true)).toEqual(['⌘', 'K']);
    expect(keysOf('palette', false)).toEqual(['Ctrl', 'K']);
  });
});

describe('one Escape', () => {
  const nothing = {
    overlay: false,
    field: false,
    filterField: false,
    filter: '',
    inspector: false,
    row: null,
    board: false,
  };
  const inFilter = { ...nothing, field: true, filterField: true };

  it.each([
    ['a dialog over everything', { ...inFilter, overlay: true, filter: 'db' }, 'overlay'],
    ['the filter before its field', { ...inFilter, filter: 'db', row: 'a' }, 'filter'],
    ['an empty filter field', { ...inFilter, row: 'a' }, 'field'],
    ['another field, whatever the filter', { ...nothing, field: true, filter: 'db' }, 'field'],
    ['the inspector before its row', { ...nothing, inspector: true, row: 'a', filter: 'db' }, 'inspector'],
    ['the row', { ...nothing, row: 'a', filter: 'db' }, 'row'],
    ['the wallboard', { ...nothing, board: true }, 'board'],
    ['nothing', { ...nothing, filter: 'db' }, null],
  ] as const)('closes %s', (_, open, expected) => {
    expect(closes(open)).toBe(expected);
  });
});

it.each([
  ['In a list', ['Space', 'Esc']],
  ['On the graph', ['←', '→', '↑', '↓', 'Space', '+', '−', '0']],
  ['On the time below the graph', ['←', '→', 'PgDn', 'PgUp', 'Home', 'End', 'Space']],
])('lists the keys that count only there: %s', (where, keys) => {
  const local = LOCAL_KEYS.find((one) => one.where === where);
  expect(local?.keys.flatMap((one) => one.keys)).toEqual(keys);
});
