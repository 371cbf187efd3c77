/** Keeps the screen on until the returned function is called, where the browser lets a page do so. */
export function stayAwake(): () => void {
  let lock: WakeLockSentinel | null = null;
  let stopped = false;
  const take = async () => {
    if (!('wakeLock' in navigator) || document.visibilityState !== 'visible' || stopped) return;
    // A battery that is low, or a browser that does not want to: the wall is shown all the same.
    const taken = await navigator.wakeLock.request('screen').catch(() => null);
    if (stopped) void taken?.release();
    else lock = taken;
  };
  // The browser lets go of it whenever the page is hidden.
  const seen = () => void take();
  document.addEventListener('visibilitychange', seen);
  void take();
  return () => {
    stopped = true;
    document.removeEventListener('visibilitychange', seen);
    void lock?.release();
  };
}
