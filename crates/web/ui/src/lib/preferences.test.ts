import { afterEach, describe, expect, it, vi } from 'vitest';
import { choice, DENSITIES, following, shownTheme, THEMES } from './preferences';
import { remember, remembered } from './storage';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('preferences', () => {
  it('falls back to the first choice for what it does not know', () => {
    expect(choice(THEMES, null)).toBe('system');
    expect(choice(THEMES, 'purple')).toBe('system');
    expect(choice(DENSITIES, 'compact')).toBe('compact');
  });

  it('goes round', () => {
    expect(following(THEMES, 'system')).toBe('light');
    expect(following(THEMES, 'dark')).toBe('system');
  });

  it('follows the system only when asked to', () => {
    expect(shownTheme('system', true)).toBe('dark');
    expect(shownTheme('light', true)).toBe('light');
  });
});

describe('storage', () => {
  it('remembers under a name of its own', () => {
    const kept = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
    });
    remember('theme', 'dark');
    expect(remembered('theme')).toBe('dark');
    expect([...kept.keys()]).toEqual(['mainstay.theme']);
  });

  it('goes on when the browser refuses', () => {
    const refuse = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse });
    expect(() => {
      remember('theme', 'dark');
    }).not.toThrow();
    expect(remembered('theme')).toBeNull();
  });
});
