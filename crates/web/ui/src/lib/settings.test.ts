import { describe, expect, it } from 'vitest';
import type { Setting } from './api/settings';
import { groups, sourceText, texts, tomlLine } from './settings';

const setting = (key: string, more: Partial<Setting> = {}): Setting => ({
  key,
  value: '"a"',
  masked: false,
  source: 'default',
  source_name: null,
  default: 'a',
  help: 'What it means',
  variables: ['MAINSTAY_A'],
  flag: null,
  needs_restart: true,
  ...more,
});

describe('settings', () => {
  it('stand in groups by their first word', () => {
    const all = groups([setting('data_dir'), setting('http.listen'), setting('http.public_url'), setting('night_watch.on')]);
    expect(all.map(({ title, settings }) => [title, settings.length])).toEqual([
      ['Data folder', 1],
      ['Server', 2],
      ['Night watch', 1],
    ]);
  });

  it.each([
    [{}, 'default'],
    [{ value: null }, 'not set'],
    [{ source: 'flag', source_name: '--listen' }, '--listen'],
    [{ source: 'file', source_name: 'mainstay.toml:3' }, 'mainstay.toml:3'],
    [{ source: 'environment', source_name: null }, 'environment'],
    [{ source: 'flag', source_name: 'http.listen' }, 'the command itself'],
  ] as const)('say where they come from: %o', (more, text) => {
    expect(sourceText(setting('http.listen', more))).toBe(text);
  });

  it('are copied as a line of the file, unless they hold a secret', () => {
    expect(tomlLine(setting('http.listen', { value: '"0.0.0.0:80"' }))).toBe('http.listen = "0.0.0.0:80"');
    expect(tomlLine(setting('http.public_url', { value: null }))).toBeNull();
    expect(tomlLine(setting('database.url', { value: '"[secret]"', masked: true }))).toBeNull();
  });

  it('are found by every name that they go by', () => {
    expect(texts(setting('a.b', { flag: '--b' }))).toEqual(expect.arrayContaining(['a.b', 'MAINSTAY_A', '--b']));
  });
});
