import { describe, expect, it } from 'vitest';
import { grid, LEAST_TILE, PAGE_MS, pageAt, saidBy } from './wall';

describe('the tiles of the wall', () => {
  const sizes = [
    [1920, 1000],
    [1280, 640],
    [390, 700],
    [3840, 2000],
    [200, 100],
  ] as const;

  it('are all there, and large enough to be read', () => {
    for (const [width, height] of sizes) {
      for (const count of [0, 1, 2, 3, 5, 8, 13, 21, 40, 150, 1000]) {
        const { columns, rows, pages } = grid(count, width, height);
        const where = `${String(count)} on ${String(width)} by ${String(height)}`;
        expect(columns * rows * pages, where).toBeGreaterThanOrEqual(count);
        if (columns > 1) expect(width / columns, where).toBeGreaterThanOrEqual(LEAST_TILE.width);
        if (rows > 1) expect(height / rows, where).toBeGreaterThanOrEqual(LEAST_TILE.height);
      }
    }
  });

  it('take one page where they can', () => {
    expect(grid(8, 1920, 1000).pages).toBe(1);
    expect(grid(42, 1920, 1000).pages).toBe(1);
    expect(grid(43, 1920, 1000).pages).toBe(2);
  });

  it('turn their pages, and show the worst twice as long', () => {
    const shown = (pages: number) => [0, 1, 2, 3, 4].map((turn) => pageAt(turn * PAGE_MS, pages));
    expect(shown(1)).toEqual([0, 0, 0, 0, 0]);
    expect(shown(3)).toEqual([0, 0, 1, 2, 0]);
  });

  it.each([
    ['healthy', { healthy: 3 }, '3 services'],
    ['down', { down: 1 }, '1 service'],
    ['down', { down: 2, degraded: 1 }, 'all 3 services'],
    ['down', { down: 2, healthy: 3 }, '2 of 5 services'],
    ['unknown', { unknown: 1, skipped: 1 }, '1 of 2 services'],
  ] as const)('tell who says %s', (status, some, text) => {
    const none = { healthy: 0, degraded: 0, down: 0, unknown: 0, skipped: 0 };
    expect(saidBy({ status, counts: { ...none, ...some } })).toBe(text);
  });
});
