import { KEYS, VALUES } from './board-filter';
import { quoted, tokenAt, type Token } from './board-words';

/** One way to go on with what is being written. */
export interface Suggestion {
  /** What stands in the place of the word that is being written. */
  readonly text: string;
  readonly says: string;
}

export interface Suggestions {
  /** The part of the filter that a suggestion takes the place of. */
  readonly from: number;
  readonly to: number;
  readonly options: readonly Suggestion[];
}

export interface Names {
  readonly teams: readonly string[];
  /** What services lean on. */
  readonly things: readonly string[];
}

/** More of them nobody reads while typing. */
const LIMIT = 8;

const SAYS: Readonly<Record<string, string>> = {
  'status:': 'down, degraded, unknown, healthy, inactive',
  'is:': 'root, affected, warning, inactive',
  'team:': 'whose it is',
  'dep:': 'what it leans on',
  'breaker:': 'open, half_open, closed',
  'p95>': 'slower than so many milliseconds',
  'p95<': 'faster than so many milliseconds',
  'interval>': 'asked less often than so many seconds',
};
const OPENINGS = Object.keys(SAYS);

const VALUE_SAYS: Readonly<Record<string, string>> = {
  'is:root': 'others fail because of it',
  'is:affected': 'fails because of another',
  'is:warning': 'part of its last answer could not be read',
  'is:inactive': 'not polled',
  'breaker:open': 'not asked for a while',
  'breaker:half_open': 'the next poll decides',
};

export function suggest(filter: string, caret: number, names: Names): Suggestions {
  const token = tokenAt(filter, caret);
  if (token === null) {
    const options = filter.trim() === '' ? OPENINGS.map(opening) : [];
    return { from: caret, to: caret, options };
  }
  const found = token.key === null ? begun(token, names) : valued(token, names);
  const sign = token.negated ? '-' : '';
  const written = filter.slice(token.from, token.to);
  const options = found
    .map(({ text, says }) => ({ text: sign + text, says }))
    .filter(({ text }) => text.trim() !== written);
  return { from: token.from, to: token.to, options: options.slice(0, LIMIT) };
}

/** The filter with a suggestion taken, and where the caret stands then. */
export function taken(
  filter: string,
  { from, to }: Pick<Suggestions, 'from' | 'to'>,
  { text }: Suggestion,
): { filter: string; caret: number } {
  const rest = text.endsWith(' ') ? filter.slice(to).trimStart() : filter.slice(to);
  return { filter: filter.slice(0, from) + text + rest, caret: from + text.length };
}

const opening = (text: string): Suggestion => ({ text, says: SAYS[text] ?? '' });

/** A word without a sign may become a key, a value of one, or a team. */
function begun({ value }: Token, { teams }: Names): Suggestion[] {
  const keys = OPENINGS.filter((text) => text.startsWith(value)).map(opening);
  const values = Object.entries(VALUES).flatMap(([key, known]) =>
    known.filter((word) => word.startsWith(value)).map((word) => whole(key, word)),
  );
  const named = teams
    .filter((team) => team.toLowerCase().startsWith(value))
    .map((team) => whole('team', team));
  return [...keys, ...values, ...named];
}

function valued({ key, sign, values }: Token, names: Names): Suggestion[] {
  if (key === null || sign !== ':' || !KEYS.includes(key)) return [];
  const last = values.at(-1) ?? '';
  const before = values.slice(0, -1);
  return candidates(key, last, names)
    .filter((word) => !before.includes(word.toLowerCase()))
    .map((word) => whole(key, word, before));
}

function candidates(key: string, part: string, { teams, things }: Names): readonly string[] {
  const known = VALUES[key];
  if (known !== undefined) return known.filter((word) => word.startsWith(part));
  const among = key === 'team' ? teams : key === 'dep' ? things : [];
  return among.filter((word) => word.toLowerCase().includes(part)).slice(0, LIMIT);
}

function whole(key: string, word: string, before: readonly string[] = []): Suggestion {
  const text = `${key}:${[...before, word].map(quoted).join(',')} `;
  return { text, says: VALUE_SAYS[`${key}:${word}`] ?? '' };
}
