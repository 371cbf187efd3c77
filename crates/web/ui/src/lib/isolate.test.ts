import { describe, expect, it } from 'vitest';
import { isolated } from './isolate';

describe('a name in a sentence', () => {
  it('is left as it is where it can turn nothing around', () => {
    for (const name of ['Orders', 'Zürich 2', '\u{1F680}', '支付', '']) expect(isolated(name)).toBe(name);
  });

  it('has a direction of its own where it is written from the right, or turns what follows', () => {
    for (const name of ['خدمة', 'שירות (2)', 'invoice\u202egnp.exe', '\u{1e900}']) {
      expect(isolated(name)).toBe(`\u2068${name}\u2069`);
    }
  });

  it('can not end its own isolation', () => {
    expect(isolated('a\u2069\u202eb')).toBe('\u2068a\u202eb\u2069');
  });
});
