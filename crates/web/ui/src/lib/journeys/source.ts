import type { Mistake } from '../api/journeys';

/** What a new journey begins with. */
export const EXAMPLE = `journey: sign in
every: 1m
touches: []
steps:
  - id: page
    get: "https://shop.example.org/login"
    expect: { status: 200, within: 2s }
`;

/** Mistakes by line; those beyond the end stand at the last line. */
export function byLine(mistakes: readonly Mistake[], lines: number): Map<number, Mistake[]> {
  const all = new Map<number, Mistake[]>();
  for (const mistake of mistakes) {
    const line = Math.min(Math.max(mistake.line, 1), lines);
    all.set(line, [...(all.get(line) ?? []), mistake]);
  }
  return all;
}

export function lineCount(source: string): number {
  return source.split('\n').length;
}

/** Where a place lies in the text, so that the cursor can be put there. */
export function offsetOf(source: string, line: number, column: number): number {
  const lines = source.split('\n');
  const before = lines.slice(0, Math.max(line - 1, 0)).reduce((sum, text) => sum + text.length + 1, 0);
  const own = lines[line - 1] ?? '';
  return Math.min(before + Math.min(Math.max(column - 1, 0), own.length), source.length);
}

/** "there is no such key; did you mean expect?" */
export function mistakeText({ path, message, nearest }: Mistake): string {
  const what = path === '' ? message : `${path}: ${message}`;
  return nearest === null ? what : `${what}; did you mean ${nearest}?`;
}

const INDENT = '  ';

/** What Tab does: the selection moves by two spaces, or back. */
export function indented(
  source: string,
  from: number,
  to: number,
  back: boolean,
): { source: string; from: number; to: number } {
  if (from === to && !back) {
    return { source: source.slice(0, from) + INDENT + source.slice(to), from: from + 2, to: from + 2 };
  }
  const start = source.lastIndexOf('\n', from - 1) + 1;
  const lines = source.slice(start, to).split('\n');
  const changed = lines.map((line) => (back ? line.replace(/^ {1,2}/, '') : INDENT + line));
  const text = changed.join('\n');
  const first = (changed[0] ?? '').length - (lines[0] ?? '').length;
  return {
    source: source.slice(0, start) + text + source.slice(to),
    from: Math.max(from + first, start),
    to: start + text.length,
  };
}
