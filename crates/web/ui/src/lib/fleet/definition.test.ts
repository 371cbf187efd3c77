import { describe, expect, it } from 'vitest';
import { EXAMPLE, hasHeaders, offsetOfPath, partsOf, readDefinition, refusedAt, written } from './definition';

const SOURCE = written({
  services: [
    { name: 'a, "b": {', url: 'https://a.example.org' },
    { name: 'shop', url: 'nowhere', more: { url: 1 } },
  ],
  odd: [[], {}, 3],
});

const lineAt = (path: string) => {
  const offset = offsetOfPath(SOURCE, partsOf(path)) ?? 0;
  return SOURCE.slice(offset).split('\n')[0]?.trim();
};

it('an example is a definition', () => {
  const read = readDefinition(EXAMPLE);
  expect('value' in read && written(read.value)).toBe(EXAMPLE);
});

describe('what is no JSON is told at its place', () => {
  it.each([
    ['{\n  "services": [,]\n}', 2, 16, 'a value or ] is expected here'],
    ['{\n  "services": [', 2, 16, 'it ends too early: a value or ] is missing'],
    ['{\n  services: []\n}', 2, 3, 'a key or } is expected here'],
    ['{"a": 1\n "b": 2}', 2, 2, 'a comma or } is expected here'],
    ['{"a": 1,}', 1, 9, 'a key is expected here'],
    ['{"a" 1}', 1, 6, 'a colon is expected here'],
    ['{"a": 01}', 1, 7, 'a value is expected here'],
    ['{} {}', 1, 4, 'the end is expected here'],
    ['', 1, 1, 'it ends too early: a value is missing'],
    ['{"a": [1, 2}', 1, 12, 'a comma or ] is expected here'],
    ['[]', 1, 1, 'a net is a JSON object with services in it'],
  ])('%j', (source, line, column, message) => {
    expect(readDefinition(source)).toMatchObject({ mistake: { line, column, message } });
  });
});

it('a definition with headers is told from one without', () => {
  const having = (headers: unknown) => hasHeaders({ services: [{ name: 'a' }, null, { headers }] });
  expect([having({ Authorization: 'x' }), having({}), having(null), having('x')]).toEqual([true, false, false, false]);
  expect([hasHeaders({}), hasHeaders({ services: 7 })]).toEqual([false, false]);
});

describe('the server names a place', () => {
  it.each([
    ['services[1].url', '"url": "nowhere",'],
    ['/services/1/url', '"url": "nowhere",'],
    ['services.1.more.url', '"url": 1'],
    ['services[0]', '{'],
    ['odd[2]', '3'],
    ['services[1].missing', '{'],
  ])('%s', (path, line) => {
    expect(lineAt(path)).toBe(line);
  });

  it('and the mistake stands there', () => {
    const found = refusedAt(SOURCE, 'The net is wrong at services[1].url: relative URL without a base.');
    expect(found).toMatchObject({ line: 9, path: 'services.1.url' });
    const told = "The definition can't be run: services[1].url: relative URL without a base.";
    expect(refusedAt(SOURCE, told), 'as the server says it').toMatchObject({ line: 9, path: 'services.1.url' });
    const unknown = 'Odd: unknown field `odd`, expected `services` or `journeys`.';
    expect(refusedAt(SOURCE, unknown, 'definition.odd'), 'the field, not the hint').toMatchObject({ line: 15, path: 'odd' });
    expect(refusedAt(SOURCE, unknown, 'definition.services[1].url')).toMatchObject({ line: 9, path: 'services.1.url' });
    expect(refusedAt(SOURCE, unknown, 'definition'), 'the whole').toMatchObject({ line: 1, path: '' });
    expect(refusedAt(SOURCE, 'Wrong at line 3 column 7.')).toMatchObject({ line: 3, column: 7 });
    expect(refusedAt(SOURCE, 'Not like this.')).toMatchObject({ line: 1, column: 1, message: 'Not like this.' });
  });
});
