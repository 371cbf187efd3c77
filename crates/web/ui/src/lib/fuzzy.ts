/** One match: a higher score is better, and `positions` are the matched places in the text. */
export interface Match {
  readonly score: number;
  readonly positions: readonly number[];
}

const START_OF_TEXT = 12;
const START_OF_WORD = 8;
const NEXT_IN_ROW = 6;
const SINGLE = 1;
const GAP_COST = 0.1;
const LENGTH_COST = 0.01;
/** Longer needles are cut: nobody types them, and the search is quadratic. */
export const NEEDLE_LIMIT = 64;

/** Finds the needle's letters in order, in the place that reads best; null when one is missing. */
export function match(needle: string, text: string): Match | null {
  const wanted = letters(needle);
  if (wanted.length === 0) return { score: 0, positions: [] };
  const have = Array.from(text, (letter) => letter.toLowerCase());
  let best: Match | null = null;
  for (let from = 0; from < have.length; from += 1) {
    if (have[from] !== wanted[0]) continue;
    const found = matchFrom(wanted, have, from);
    if (found === null) break;
    if (best === null || found.score > best.score) best = found;
  }
  return best;
}

function letters(needle: string): string[] {
  return Array.from(needle.toLowerCase())
    .filter((letter) => letter.trim() !== '')
    .slice(0, NEEDLE_LIMIT);
}

function matchFrom(wanted: string[], have: string[], from: number): Match | null {
  if (!follows(wanted, have, from)) return null;
  const positions: number[] = [];
  let score = (wanted.length - have.length) * LENGTH_COST;
  for (const [index, letter] of wanted.entries()) {
    const last = positions.at(-1);
    const at = last === undefined ? from : last + 1;
    const place = have[at] === letter ? at : placeOf(wanted.slice(index), have, at);
    score += worth(have, place, last);
    positions.push(place);
  }
  return { score, positions };
}

/** The nearest word that begins with the letter and leaves room for the rest, else the first. */
function placeOf(rest: string[], have: string[], at: number): number {
  const [letter = '', ...later] = rest;
  const first = have.indexOf(letter, at);
  for (let place = first; place !== -1; place = have.indexOf(letter, place + 1)) {
    if (startsWord(have, place) && follows(later, have, place + 1)) return place;
  }
  return first;
}

function follows(wanted: readonly string[], have: readonly string[], from: number): boolean {
  let at = from;
  return wanted.every((letter) => {
    at = have.indexOf(letter, at) + 1;
    return at > 0;
  });
}

function worth(have: string[], place: number, last: number | undefined): number {
  if (place === 0) return START_OF_TEXT;
  if (last !== undefined && place === last + 1) return NEXT_IN_ROW;
  const gap = last === undefined ? 0 : (place - last - 1) * GAP_COST;
  return (startsWord(have, place) ? START_OF_WORD : SINGLE) - gap;
}

function startsWord(have: string[], place: number): boolean {
  const before = have[place - 1];
  return before === undefined || !/[\p{L}\p{N}]/u.test(before);
}
