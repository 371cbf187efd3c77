import { afterEach, expect, it, vi } from 'vitest';
import { onSignedIn, tellSignedIn } from './tabs';

/** As long as a busy machine may take to pass a word on. */
const WAIT = { timeout: 15_000 };
const other = new BroadcastChannel('mainstay.session');

afterEach(() => vi.unstubAllGlobals());

it('tells other tabs that a session was begun, and not the one that began it', async () => {
  const [own, heard] = [vi.fn(), vi.fn()];
  const stop = onSignedIn(own);
  other.onmessage = heard;
  tellSignedIn();
  await vi.waitFor(() => { expect(heard).toHaveBeenCalledOnce(); }, WAIT);
  expect(own).not.toHaveBeenCalled();
  other.postMessage('signed-in');
  await vi.waitFor(() => { expect(own).toHaveBeenCalledOnce(); }, WAIT);
  stop();
});

it('does without where tabs can not speak with each other', () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  const stop = onSignedIn(() => undefined);
  tellSignedIn();
  stop();
});
