/** The words of the board's filter: how a text falls into them. */
export interface Token {
  /** Where it stands in the text. */
  readonly from: number;
  readonly to: number;
  readonly negated: boolean;
  /** What stands before the sign, in lower case; null for a plain word. */
  readonly key: string | null;
  readonly sign: Sign | null;
  /** What is sought, without quotes and in lower case. */
  readonly value: string;
  /** The same, split at the commas that stand outside of quotes. */
  readonly values: readonly string[];
}
export type Sign = ':' | '>' | '<' | '>=' | '<=';

/** In quotes, \\" is a quote and \\\\ a backslash. One that is not ended yet ends with the text. */
const QUOTED = String.raw`"(?:\\["\\]|[^"])*"?`;
const WORD = new RegExp(String.raw`-?(?:${QUOTED}|[^\s"])+`, 'g');
const PART = new RegExp(String.raw`(?:${QUOTED}|[^,"])+`, 'g');
const KEYED = /^([a-z][a-z\d_]*)(:|>=|<=|>|<)/i;

export function tokens(text: string): Token[] {
  return Array.from(text.matchAll(WORD), (found) => token(found[0], found.index));
}

/** The word in which the caret stands or at whose end it is; null between words. */
export function tokenAt(text: string, caret: number): Token | null {
  return tokens(text).find(({ from, to }) => from < caret && caret <= to) ?? null;
}

/** A value as it has to be written, so that it stays one. */
export function quoted(value: string): string {
  const isPlain = !/[\s,:<>"]/.test(value) && !value.startsWith('-');
  return isPlain ? value : `"${value.replace(/["\\]/g, String.raw`\$&`)}"`;
}

function token(raw: string, from: number): Token {
  const negated = raw.length > 1 && raw.startsWith('-');
  const body = negated ? raw.slice(1) : raw;
  const [whole = '', key = null, sign = null] = KEYED.exec(body) ?? [];
  const rest = body.slice(whole.length);
  return {
    from,
    to: from + raw.length,
    negated,
    key: key?.toLowerCase() ?? null,
    sign: sign as Sign | null,
    value: bare(rest),
    values: parts(rest).map(bare),
  };
}

/** Without quotes, and with what was meant by those in them. */
function bare(text: string): string {
  const meant = (whole: string) =>
    whole.startsWith('"') ? whole.slice(1).replace(/\\(["\\])|"$/g, '$1') : whole;
  return text.replace(new RegExp(QUOTED, 'g'), meant).toLowerCase();
}

function parts(text: string): string[] {
  return text.match(PART) ?? [];
}
