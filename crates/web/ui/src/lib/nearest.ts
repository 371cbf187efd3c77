/** The known word that was most likely meant; null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  const limit = Math.min(3, Math.floor(word.length / 3) + 1);
  let best: { word: string; steps: number } | null = null;
  for (const candidate of known) {
    const steps = distance(word, candidate);
    if (steps <= limit && (best === null || steps < best.steps)) best = { word: candidate, steps };
  }
  return best?.word ?? null;
}

/** Longer ones are no slip of the finger. */
const WORD_LIMIT = 32;

/** How many letters to add, to drop, to change or to swap with their neighbour. */
function distance(one: string, other: string): number {
  const a = one.slice(0, WORD_LIMIT);
  const b = other.slice(0, WORD_LIMIT);
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change, swap));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
