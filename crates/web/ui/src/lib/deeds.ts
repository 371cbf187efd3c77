/** What can be done to something that the palette finds. */
export type Deed = 'poll' | 'show';

/** What shall be done, and to what. */
export interface Wanted {
  readonly deed: Deed;
  /** Empty while nothing is named. */
  readonly sought: string;
}

/** More of them nobody reads, where no name was typed. */
export const DEED_LIMIT = 10;

/** Of a word that is half typed, fewer letters begin too many others. */
const LEAST_LETTERS = 3;
const VERBS: readonly (readonly [word: string, deed: Deed])[] = [
  ['poll', 'poll'],
  ['show', 'show'],
  ['graph', 'show'],
];

/** What a needle wants done: "poll orders", "show ledger"; null when it only looks for something. */
export function wantedIn(needle: string): Wanted | null {
  const [first = '', ...rest] = needle.trim().toLowerCase().split(/\s+/);
  if (first.length < LEAST_LETTERS) return null;
  const found = VERBS.find(([word]) => (rest.length === 0 ? word.startsWith(first) : word === first));
  return found === undefined ? null : { deed: found[1], sought: rest.join(' ') };
}

export function deedTitle(deed: Deed, name: string): string {
  return deed === 'poll' ? `Poll ${name} now` : `Show ${name} in the graph`;
}

/** "graph" alone is first of all the page of that name; what names its object is meant. */
export function comesFirst({ deed, sought }: Wanted): boolean {
  return deed === 'poll' || sought !== '';
}
