import { describe, expect, it } from 'vitest';
import { drawn, unowned } from './instances';

describe('instances', () => {
  it.each([
    ['alive', 'healthy'],
    ['late', 'degraded'],
    ['stopped', 'skipped'],
    ['lost', 'down'],
    ['dreaming', 'unknown'],
  ])('draws one that is %s as %s', (state, status) => {
    expect(drawn(state)).toBe(status);
  });

  it('tells of shards that nobody polls, and of nothing else', () => {
    expect(unowned({ items: [], shards: 64, shards_unowned: 0 })).toBeNull();
    expect(unowned({ items: [], shards: 64, shards_unowned: 21 })).toContain('21 of 64 shards');
  });
});
