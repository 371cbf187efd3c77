import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STATUSES } from '../lib/status';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const SURFACES = ['canvas', 'surface', 'raised', 'hover', 'selected'];

/** The tokens of the blocks whose selector names the theme, or no theme at all. */
function tokens(theme: 'light' | 'dark'): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, selector = '', body = ''] of css.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    if (selector.includes('data-theme') && !selector.includes(theme)) continue;
    for (const [, name = '', value = ''] of body.matchAll(/--([\w-]+):\s*(#[\da-f]{6});/g)) {
      found.set(name, value);
    }
  }
  return found;
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

describe.each(['light', 'dark'] as const)('the %s theme', (theme) => {
  const all = tokens(theme);
  const color = (name: string) => {
    const value = all.get(name);
    if (value === undefined) throw new Error(`--${name} is not a colour of the ${theme} theme`);
    return value;
  };
  const texts = ['text', 'text-muted', 'text-faint', 'accent', ...STATUSES.map((s) => `text-${s}`)];

  it.each(texts)('has readable --%s on every surface', (name) => {
    for (const surface of SURFACES) {
      expect(contrast(color(name), color(surface)), surface).toBeGreaterThanOrEqual(4.5);
    }
  });

  it.each(STATUSES)('has a %s glyph that stands out on every surface', (status) => {
    for (const surface of SURFACES) {
      const best = Math.max(
        contrast(color(`status-${status}`), color(surface)),
        contrast(all.get(`edge-${status}`) ?? color(`status-${status}`), color(surface)),
      );
      expect(best, surface).toBeGreaterThanOrEqual(3);
    }
  });

  it.each(['graph-edge', 'graph-users', 'graph-uses'])('has a --%s that stands out where a graph is drawn', (name) => {
    for (const ground of ['canvas', 'raised', 'past']) {
      expect(contrast(color(name), color(ground)), ground).toBeGreaterThanOrEqual(3);
    }
  });

  it.each(texts)('has readable --%s on the past', (name) => {
    expect(contrast(color(name), color('past'))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(['text', 'accent'])('has readable --%s where something is chosen', (name) => {
    expect(contrast(color(name), color('accent-soft'))).toBeGreaterThanOrEqual(4.5);
  });
});

describe('the status colours', () => {
  it('are those of the palette', () => {
    const all = tokens('light');
    expect(STATUSES.map((status) => all.get(`status-${status}`))).toEqual([
      '#009e73',
      '#e69f00',
      '#d55e00',
      '#8a8f98',
      '#8a8f98',
    ]);
  });

  it('measures contrast as WCAG does', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });
});

it('has no token that nothing uses', () => {
  const folder = new URL('..', import.meta.url);
  const used = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(svelte|css|svelte\.ts)$/.test(name))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const named = [...css.matchAll(/^ {2}--([\w-]+):/gm)].map(([, name]) => name ?? '');
  const unused = named.filter((name) => !used.includes(`var(--${name})`));
  expect(unused).toEqual([]);
});
