import { afterEach, expect, it, vi } from 'vitest';
import { onSignedIn, tellSignedIn } from './tabs';

afterEach(() => vi.unstubAllGlobals());

it('tells other tabs that a session was begun, as long as they listen', async () => {
  const heard = vi.fn();
  const stop = onSignedIn(heard);
  tellSignedIn();
  await vi.waitFor(() => { expect(heard).toHaveBeenCalledOnce(); });
  stop();
});

it('does without where tabs can not speak with each other', () => {
  vi.stubGlobal('BroadcastChannel', undefined);
  const stop = onSignedIn(() => undefined);
  tellSignedIn();
  stop();
});
