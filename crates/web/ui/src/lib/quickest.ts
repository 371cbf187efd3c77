/** For tests: a machine that pauses slows down some of so many runs only. */
const RUNS = 3;
/** And a test of them may be held up for as long. */
export const LONG = { timeout: 60_000 };

/** How long the quickest of some runs took, in milliseconds. */
export function quickest(run: () => void): number {
  const times = Array.from({ length: RUNS }, () => {
    const begun = performance.now();
    run();
    return performance.now() - begun;
  });
  return Math.min(...times);
}
