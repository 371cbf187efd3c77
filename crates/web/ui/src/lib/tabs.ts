const NAME = 'mainstay.session';
/** One for the whole page: a channel does not hear itself, but it hears another of the same page. */
let opened: BroadcastChannel | null = null;

/** Tells the other tabs of this browser that a session was begun, which is theirs too. */
export function tellSignedIn(): void {
  open()?.postMessage('signed-in');
}

/** Calls back when a session was begun in another tab, until the returned function is called. */
export function onSignedIn(hear: () => void): () => void {
  const channel = open();
  channel?.addEventListener('message', hear);
  return () => channel?.removeEventListener('message', hear);
}

/** Null where tabs can't speak with each other: then each finds out when somebody comes back to it. */
function open(): BroadcastChannel | null {
  if (typeof BroadcastChannel !== 'function') return null;
  opened ??= new BroadcastChannel(NAME);
  return opened;
}
