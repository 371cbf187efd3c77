import { READ_TIMEOUT_MS } from './api/client';

const NOTE = 'mainstay.reloaded';
/** A page that loads itself anew and fails again must not do so for ever. */
export const RELOAD_PAUSE_MS = 60_000;

/** Loads the whole page anew without being asked: not where something would be lost, and not again and again. */
export async function reloadByItself(now: number): Promise<void> {
  if (isHeld(window) || !(await isThere()) || !noteReload(now)) return;
  location.reload();
}

/** The same because somebody asked for it. */
export async function reload(): Promise<void> {
  if (await isThere()) location.reload();
}

/** Whoever has something to lose says so when the browser asks before it leaves; here nobody leaves yet. */
export function isHeld(page: EventTarget): boolean {
  return !page.dispatchEvent(new Event('beforeunload', { cancelable: true }));
}

/** Says whether it is the first for a while, and that there is one now. */
export function noteReload(now: number): boolean {
  try {
    const last = sessionStorage.getItem(NOTE);
    if (last !== null && Math.abs(now - Number(last)) < RELOAD_PAUSE_MS) return false;
    sessionStorage.setItem(NOTE, String(now));
    return true;
  } catch {
    // Nobody would remember it.
    return false;
  }
}

/** A page that is loaded from a server that is gone is the browser's own, which does not come back. */
async function isThere(): Promise<boolean> {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const asked = { method: 'HEAD', headers: { Accept: 'text/html' }, cache: 'no-store', signal } as const;
  const answer = await fetch(location.href, asked).catch(() => null);
  return answer?.ok === true;
}
