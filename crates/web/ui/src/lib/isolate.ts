const FIRST_STRONG = '\u2068';
const END = '\u2069';
/** What opens and closes a stretch of a direction that the letters in it do not have. */
const OVERRIDES = /[\u202a-\u202e\u2066\u2067]/g;
/** The sign for what can't be shown. */
const INSTEAD = '\ufffd';
/** Letters that are written from right to left, and marks that turn what follows them. */
const TURNING =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A name from outside for the middle of a sentence: one of another direction does not turn the words
 * beside it around. In an element of its own, `bdi` or `dir="auto"` do the same.
 */
export function isolated(name: string): string {
  return TURNING.test(name) ? `${FIRST_STRONG}${closed(name)}${END}` : name;
}

/**
 * A text in which the marks that turn around what follows are seen, so that no name reads as another:
 * with one of them, `invoice…gnp.exe` would be shown as `invoiceexe.png`.
 */
export function plain(text: string): string {
  return text.replace(OVERRIDES, INSTEAD);
}

/** An end in the name itself must not end what is put around it. */
function closed(name: string): string {
  return plain(name).replaceAll(END, '');
}
