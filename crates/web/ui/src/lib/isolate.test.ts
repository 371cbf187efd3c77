import { describe, expect, it } from 'vitest';
import { isolated, plain } from './isolate';

describe('a name in a sentence', () => {
  it('is left as it is where it can turn nothing around', () => {
    for (const name of ['Orders', 'Zürich 2', '\u{1F680}', '支付', '']) expect(isolated(name)).toBe(name);
  });

  it('has a direction of its own where it is written from the right, or turns what follows', () => {
    for (const name of ['خدمة', 'שירות (2)', '\u{1e900}']) {
      expect(isolated(name)).toBe(`\u2068${name}\u2069`);
    }
    expect(isolated('invoice\u202egnp.exe')).toBe('\u2068invoice\ufffdgnp.exe\u2069');
  });

  it('can not end its own isolation', () => {
    expect(isolated('a\u2069\u202eb')).toBe('\u2068a\ufffdb\u2069');
  });
});

describe('a text that is shown', () => {
  it('shows every mark that would turn it around', () => {
    for (const mark of '\u202a\u202b\u202c\u202d\u202e\u2066\u2067') {
      expect(plain(`invoice${mark}gnp.exe`)).toBe('invoice\ufffdgnp.exe');
    }
  });

  it('keeps letters of every direction, and what only sets a name apart', () => {
    for (const text of ['خدمة (2)', '\u2068שירות\u2069 is down', 'a\u200fb']) expect(plain(text)).toBe(text);
  });
});
