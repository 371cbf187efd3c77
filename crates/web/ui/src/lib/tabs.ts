const NAME = 'mainstay.session';

/** Tells the other tabs of this browser that a session was begun, which is theirs too. */
export function tellSignedIn(): void {
  const channel = open();
  channel?.postMessage('signed-in');
  channel?.close();
}

/** Calls back when a session was begun in another tab, until the returned function is called. */
export function onSignedIn(hear: () => void): () => void {
  const channel = open();
  if (channel !== null) {
    channel.onmessage = () => {
      hear();
    };
  }
  return () => channel?.close();
}

/** Null where tabs can't speak with each other: then each finds out when somebody comes back to it. */
function open(): BroadcastChannel | null {
  return typeof BroadcastChannel === 'function' ? new BroadcastChannel(NAME) : null;
}
