/** What has no events is read again this often. */
export const REFRESH_MS = 15_000;

const readers = new Set<() => void>();

/** Reads again whenever somebody comes back to the page, and from time to time. */
export function keepFresh(read: () => void, every = REFRESH_MS): () => void {
  const seen = () => {
    if (document.visibilityState === 'visible') read();
  };
  const timer = setInterval(seen, every);
  const stop = onReturn(seen);
  const forget = onReadAgain(read);
  return () => {
    clearInterval(timer);
    stop();
    forget();
  };
}

/** Is called whenever everything on the page is read again, until the returned function is called. */
export function onReadAgain(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

/** Reads everything on the page again: a person asked for it, or nobody knows what was missed. */
export function readAgain(): void {
  for (const read of readers) read();
}

/** Calls back when the page is looked at again or the network is back. */
export function onReturn(back: () => void): () => void {
  const sources: [EventTarget, string][] = [
    [window, 'focus'],
    [window, 'online'],
    [window, 'pageshow'],
    [document, 'visibilitychange'],
  ];
  const seen = (event: Event) => {
    // A page is also shown when it is loaded; only one that comes out of the browser's keep is old.
    const loaded = event instanceof PageTransitionEvent && !event.persisted;
    if (document.visibilityState === 'visible' && !loaded) back();
  };
  for (const [source, name] of sources) source.addEventListener(name, seen);
  return () => {
    for (const [source, name] of sources) source.removeEventListener(name, seen);
  };
}

/** Calls back when the browser says that its network is gone. */
export function onOffline(gone: () => void): () => void {
  window.addEventListener('offline', gone);
  return () => {
    window.removeEventListener('offline', gone);
  };
}
