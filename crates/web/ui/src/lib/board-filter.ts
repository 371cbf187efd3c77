import { lineWord, type Line } from './board';
import { quoted, tokens, type Sign, type Token } from './board-words';
import { nearest } from './nearest';

/** What is asked of the board, understood once and then put to every line. */
export interface Query {
  readonly tests: readonly Test[];
  readonly hints: readonly Hint[];
  /** Whether it has to be known what leans on what. */
  readonly leaning: boolean;
}

/** Something that was not understood, and so narrows nothing. */
export interface Hint {
  readonly says: string;
  /** The whole filter with what was most likely meant; null when nobody can tell. */
  readonly better: { readonly word: string; readonly filter: string } | null;
}

/** The names of what each service leans on, in lower case; null until they are known. */
export type Leaning = ReadonlyMap<string, string> | null;
type Test = (line: Line, leaning: Leaning) => boolean;

/** The words that a key takes, where they are few. */
export const VALUES: Readonly<Record<string, readonly string[]>> = {
  status: ['down', 'degraded', 'unknown', 'healthy', 'inactive'],
  breaker: ['open', 'half_open', 'closed'],
  is: ['root', 'affected', 'warning', 'inactive', 'active'],
};
export const TEXT_KEYS = ['team', 'dep', 'name'] as const;
export const NUMBER_KEYS = ['p95', 'interval'] as const;
export const KEYS: readonly string[] = [...Object.keys(VALUES), ...TEXT_KEYS, ...NUMBER_KEYS];

export function query(filter: string): Query {
  const read = tokens(filter).map((token) => understood(token, filter));
  return {
    tests: read.flatMap(({ test }) => test ?? []),
    hints: read.flatMap(({ hint }) => hint ?? []),
    leaning: tokens(filter).some(({ key, sign, value }) => key === 'dep' && sign === ':' && value !== ''),
  };
}

/** The lines that pass every part of a query; none while it is not known what they lean on, if it asks. */
export function passing(
  lines: readonly Line[],
  { tests, leaning: isLeaning }: Query,
  leaning: Leaning,
): readonly Line[] {
  if (tests.length === 0) return lines;
  // Nobody knows whom it is about, also of what shall not lean on something.
  if (isLeaning && leaning === null) return [];
  return lines.filter((line) => tests.every((test) => test(line, leaning)));
}

interface Understood {
  readonly test?: Test;
  readonly hint?: Hint;
}

function understood(token: Token, filter: string): Understood {
  const { key, sign, value } = token;
  if (key === null || sign === null) return value === '' ? {} : turned(token, words(value));
  if (!KEYS.includes(key)) return { hint: unknownKey(token, filter) };
  // It is still being written.
  if (value === '') return {};
  if (key === 'p95' || key === 'interval') return compared(token, key, sign);
  if (sign !== ':') return { hint: { says: `Write ${key}:${value} instead.`, better: null } };
  return key in VALUES ? chosen(token, key, filter) : turned(token, texts(key, token.values));
}

const turned = ({ negated }: Token, test: Test): Understood => ({
  test: negated ? (line, leaning) => !test(line, leaning) : test,
});

const words =
  (word: string): Test =>
  ({ nameKey, teamKey }) =>
    nameKey.includes(word) || teamKey.includes(word);

function texts(key: string, values: readonly string[]): Test {
  const has = (text: string) => values.some((value) => text.includes(value));
  if (key === 'team') return ({ teamKey }) => has(teamKey);
  if (key === 'name') return ({ nameKey }) => has(nameKey);
  return ({ id }, leaning) => leaning !== null && has(leaning.get(id) ?? '');
}

/** A value is known by its beginning too, so that the list follows while it is written. */
function chosen(token: Token, key: string, filter: string): Understood {
  const known = VALUES[key] ?? [];
  const meant = token.values.map((value) => {
    const word = value.replaceAll('-', '_');
    return known.includes(word) ? [word] : known.filter((name) => name.startsWith(word));
  });
  const at = meant.findIndex((names) => names.length === 0);
  const wanted = new Set(meant.flat());
  return {
    ...(wanted.size > 0 ? turned(token, one(key, wanted)) : {}),
    ...(at >= 0 ? { hint: unknownValue(token, key, token.values[at] ?? '', filter) } : {}),
  };
}

function one(key: string, wanted: ReadonlySet<string>): Test {
  if (key === 'status') return (line) => wanted.has(lineWord(line));
  if (key === 'breaker') return ({ breaker }) => wanted.has(breaker);
  return ({ cause, warned, active }) =>
    (cause !== null && wanted.has(cause)) ||
    (warned && wanted.has('warning')) ||
    wanted.has(active ? 'active' : 'inactive');
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 };
const AMOUNT = /^(\d+(?:\.\d+)?)(ms|s|min|m|h)?$/;

function compared(token: Token, key: 'p95' | 'interval', sign: Sign): Understood {
  const [, digits, unit = key === 'p95' ? 'ms' : 's'] = AMOUNT.exec(token.value) ?? [];
  if (digits === undefined || sign === ':') {
    const example = key === 'p95' ? 'p95>300 or p95<1.5s' : 'interval>60s or interval<=5m';
    return { hint: { says: `Write it as ${example}.`, better: null } };
  }
  const limit = Number(digits) * (UNITS[unit] ?? 1);
  const compare = COMPARE[sign];
  return turned(token, (line) => {
    const value = line[key];
    return value !== null && compare(value, limit);
  });
}

const COMPARE: Record<Exclude<Sign, ':'>, (value: number, limit: number) => boolean> = {
  '>': (value, limit) => value > limit,
  '<': (value, limit) => value < limit,
  '>=': (value, limit) => value >= limit,
  '<=': (value, limit) => value <= limit,
};

function unknownKey(token: Token, filter: string): Hint {
  const key = token.key ?? '';
  const near = nearest(key, KEYS);
  const word = `${token.negated ? '-' : ''}${near ?? ''}`;
  const rest = filter.slice(token.from, token.to).replace(/^-?[a-z\d_]+/i, '');
  return {
    says: `${key}${token.sign ?? ''} is not known here. Put it in quotes to look for the words.`,
    better: near === null ? null : better(filter, token, word + rest),
  };
}

function unknownValue(token: Token, key: string, value: string, filter: string): Hint {
  const known = VALUES[key] ?? [];
  const near = nearest(value, known);
  const values = token.values.map((word) => quoted(word === value ? (near ?? '') : word));
  const word = `${token.negated ? '-' : ''}${key}:${values.join(',')}`;
  return {
    says: `${key}: is one of ${known.join(', ')}, not ${value}.`,
    better: near === null ? null : better(filter, token, word),
  };
}

function better(filter: string, { from, to }: Token, word: string): Hint['better'] {
  return { word, filter: filter.slice(0, from) + word + filter.slice(to) };
}
