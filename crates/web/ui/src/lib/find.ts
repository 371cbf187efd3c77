/** Something that can be found by its name. */
export interface Findable {
  readonly title: string;
  /** The title in lower case, without what many begin with. */
  readonly key: string;
  /** Further words, in lower case, that find it less well. */
  readonly words: string;
  /** Of those that are found equally well, the lower comes first. */
  readonly rank: number;
}

/** More of them nobody reads. */
export const FOUND_LIMIT = 50;

/** The best of very many: cheap for each of them, so that thousands keep up with typing. */
export function find<Item extends Findable>(
  needle: string,
  items: readonly Item[],
  limit = FOUND_LIMIT,
): Item[] {
  const sought = needle.trim().toLowerCase();
  if (sought === '') return [];
  const words = sought.split(/\s+/);
  const letters = words.join('');
  const found: { item: Item; fits: number }[] = [];
  for (const item of items) {
    const fits = fit(sought, words, letters, item);
    if (fits > 0) found.push({ item, fits });
  }
  found.sort(
    (one, other) =>
      other.fits - one.fits ||
      one.item.rank - other.item.rank ||
      one.item.key.length - other.item.key.length,
  );
  return found.slice(0, limit).map(({ item }) => item);
}

const BEGINS = 6;
const WORD_BEGINS = 5;
const HOLDS = 4;
const HOLDS_WORDS = 3;
const OTHER_WORDS = 2;
const LETTERS = 1;

function fit(sought: string, words: readonly string[], letters: string, item: Findable): number {
  const { key } = item;
  const at = key.indexOf(sought);
  if (at === 0) return BEGINS;
  if (at > 0) return beginsWord(key, sought, at) ? WORD_BEGINS : HOLDS;
  if (words.length > 1 && words.every((word) => key.includes(word))) return HOLDS_WORDS;
  if (item.words !== '' && words.every((word) => item.words.includes(word))) return OTHER_WORDS;
  return hasInOrder(key, letters) ? LETTERS : 0;
}

function beginsWord(key: string, sought: string, first: number): boolean {
  for (let at = first; at !== -1; at = key.indexOf(sought, at + 1)) {
    if (!/[\p{L}\p{N}]/u.test(key[at - 1] ?? ' ')) return true;
  }
  return false;
}

function hasInOrder(key: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = key.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
