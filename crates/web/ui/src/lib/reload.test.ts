import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isHeld, noteReload, reload, reloadByItself, RELOAD_PAUSE_MS } from './reload';

const T0 = 1_000_000;
const reloaded = vi.fn();
let there = true;
let page: EventTarget;

beforeEach(() => {
  there = true;
  page = new EventTarget();
  const kept = new Map<string, string>();
  vi.stubGlobal('window', page);
  vi.stubGlobal('location', { href: 'http://localhost/graph', reload: reloaded });
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
  vi.stubGlobal('fetch', () => (there ? Promise.resolve(new Response()) : Promise.reject(new TypeError('gone'))));
});

afterEach(() => {
  reloaded.mockReset();
  vi.unstubAllGlobals();
});

describe('a page that loads itself anew', () => {
  it('does so once in a while only', async () => {
    await reloadByItself(T0);
    await reloadByItself(T0 + RELOAD_PAUSE_MS - 1);
    expect(reloaded).toHaveBeenCalledTimes(1);
    await reloadByItself(T0 + RELOAD_PAUSE_MS);
    expect(reloaded).toHaveBeenCalledTimes(2);
  });

  it('does not where something would be lost', async () => {
    const hold = (event: Event) => { event.preventDefault(); };
    page.addEventListener('beforeunload', hold);
    expect(isHeld(page)).toBe(true);
    await reloadByItself(T0);
    expect(reloaded).not.toHaveBeenCalled();
    page.removeEventListener('beforeunload', hold);
    await reloadByItself(T0);
    expect(reloaded).toHaveBeenCalledOnce();
  });

  it('waits for a server that is gone, also when it was asked to', async () => {
    there = false;
    await reloadByItself(T0);
    await reload();
    expect(reloaded).not.toHaveBeenCalled();
    there = true;
    await reload();
    expect(reloaded).toHaveBeenCalledOnce();
  });

  it('does not where it could not remember that it did', () => {
    vi.stubGlobal('sessionStorage', undefined);
    expect(noteReload(T0)).toBe(false);
  });
});
