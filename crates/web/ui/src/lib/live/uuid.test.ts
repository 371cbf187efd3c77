import { expect, it } from 'vitest';
import { uuid } from './uuid';

const VERSION_4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

it('is the browser’s own where there is one', () => {
  expect(uuid()).toMatch(VERSION_4);
});

it('is made of random bytes on plain HTTP', () => {
  const plain = { getRandomValues: crypto.getRandomValues.bind(crypto) };
  expect(uuid(plain)).toMatch(VERSION_4);
  expect(uuid(plain)).not.toBe(uuid(plain));
});

it.each([
  [0x00, '00000000-0000-4000-8000-000000000000'],
  [0xff, 'ffffffff-ffff-4fff-bfff-ffffffffffff'],
])('keeps the marks of version and variant among bytes of %i', (byte, text) => {
  const same = { getRandomValues: <T extends ArrayBufferView | null>(into: T) => {
    if (into instanceof Uint8Array) into.fill(byte);
    return into;
  } };
  expect(uuid(same)).toBe(text);
});
