import { describe, expect, it } from 'vitest';
import { grid, LEAST_TILE, PAGE_MS, pageAt, saidBy, tilesOf } from './wall';

describe('what stands on the wall', () => {
  const none = { healthy: 0, degraded: 0, down: 0, unknown: 0, skipped: 0 };
  const since = '2026-01-01T00:00:00.000Z';
  const group = (canonical_name: string, status: 'down' | 'degraded' | 'healthy') => ({
    canonical_name,
    status,
    since,
    counts: { ...none, [status]: 2 },
    error_message: null,
    reported_by: [],
  });
  const service = (service_name: string, status: 'down' | 'degraded') => ({
    service_id: service_name,
    service_name,
    status,
    since,
    error_message: 'refused',
  });

  it('is also a service that fails though nobody leans on it, among those that are as bad', () => {
    const items = [group('db', 'down'), group('cache', 'degraded'), group('mail', 'healthy')];
    const tiles = tilesOf({ items, failing: [service('Alone', 'down'), service('Slow', 'degraded')] });
    expect(tiles.map(({ name }) => name)).toEqual(['db', 'Alone', 'cache', 'Slow', 'mail']);
    expect(tiles[1]).toMatchObject({ status: 'down', error: 'refused', who: 'by its own poll' });
  });

  it('has one tile for a name, which tells the worse', () => {
    const tiles = tilesOf({ items: [group('Orders ', 'healthy')], failing: [service('orders', 'down')] });
    expect(tiles.map(({ name, status, who }) => [name, status, who])).toEqual([
      ['orders', 'down', 'by its own poll, 2 services on it'],
    ]);
  });
});

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
