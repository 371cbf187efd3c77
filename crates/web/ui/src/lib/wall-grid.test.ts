import { describe, expect, it } from 'vitest';
import { grid, LEAST_TILE, PAGE_MS, pageAt, tilesOn } from './wall-grid';

describe('the tiles of the wall', () => {
  const sizes = [
    [1920, 1000],
    [1280, 640],
    [390, 700],
    [3840, 2000],
    [700, 150],
    [200, 100],
  ] as const;
  const counts = [0, 1, 2, 3, 5, 8, 13, 21, 40, 150, 1000];
  const some = (count: number) => ({ count, roots: 0 });

  it('are all there, and large enough to be read', () => {
    for (const [width, height] of sizes) {
      for (const count of counts) {
        for (const roots of [0, 1, 2, 7, 30].filter((roots) => roots <= count)) {
          const drawn = grid({ count, roots }, width, height);
          const { columns, rows, pages } = drawn;
          const where = `${String(count)}, ${String(roots)} of them roots, on ${String(width)} by ${String(height)}`;
          const all = Array.from({ length: count }, (_, at) => at);
          expect(pages.flatMap((_, page) => tilesOn(all, drawn, page)), where).toEqual(all);
          for (const onPage of pages) expect(onPage, where).toBeLessThanOrEqual(columns * rows);
          if (columns > 1) expect(width / columns, where).toBeGreaterThanOrEqual(LEAST_TILE.width);
          if (rows > 1) expect(height / rows, where).toBeGreaterThanOrEqual(LEAST_TILE.height);
        }
      }
    }
  });

  it('have room for every large one, with smaller ones between them', () => {
    for (const [width, height] of sizes) {
      for (const count of counts) {
        for (const roots of [1, 2, 7].filter((roots) => roots <= count)) {
          const { columns, rows, wide, high, pages } = grid({ count, roots }, width, height);
          const where = `${String(count)}, ${String(roots)} of them roots, on ${String(width)} by ${String(height)}`;
          const first = pages[0] ?? 0;
          expect(first - roots + roots * wide * high, where).toBeLessThanOrEqual(Math.max(columns * rows, first));
          if (wide * high > 1) expect(Math.floor(columns / wide) * Math.floor(rows / high), where).toBeGreaterThanOrEqual(roots);
          if (wide * high > 1) expect(first, where).toBeGreaterThanOrEqual(roots);
        }
      }
    }
  });

  it.each([
    ['twice as wide and high on a screen', { count: 8, roots: 1 }, 1920, 1000, 2, 2],
    ['twice as high on a telephone', { count: 3, roots: 1 }, 390, 700, 1, 2],
    ['twice as wide where there is no height', { count: 3, roots: 1 }, 700, 150, 2, 1],
    ['so also among a thousand', { count: 1000, roots: 9 }, 1920, 1000, 2, 2],
    ['as large as others where a page would not hold all of them', { count: 40, roots: 10 }, 1920, 1000, 1, 1],
  ] as const)('that are root causes are %s', (_, amount, width, height, wide, high) => {
    expect(grid(amount, width, height)).toMatchObject({ wide, high });
  });

  it('take one page where they can', () => {
    expect(grid(some(8), 1920, 1000).pages).toEqual([8]);
    expect(grid(some(42), 1920, 1000).pages).toEqual([42]);
    expect(grid(some(43), 1920, 1000).pages).toEqual([42, 1]);
    expect(grid({ count: 43, roots: 2 }, 1920, 1000).pages).toEqual([36, 7]);
  });

  it('turn their pages, and show the worst twice as long', () => {
    const shown = (pages: number) => [0, 1, 2, 3, 4].map((turn) => pageAt(turn * PAGE_MS, pages));
    expect(shown(1)).toEqual([0, 0, 0, 0, 0]);
    expect(shown(3)).toEqual([0, 0, 1, 2, 0]);
  });
});
