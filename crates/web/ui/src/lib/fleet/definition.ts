import type { Mistake } from '../api/journeys';

/** What a new net begins with. */
export const EXAMPLE = `{
  "services": [
    {
      "name": "shop",
      "url": "https://shop.example.org/health",
      "interval_s": 30
    }
  ]
}
`;

export type Definition = Readonly<Record<string, unknown>>;

/** A definition as it is written down. */
export function written(definition: Definition): string {
  return `${JSON.stringify(definition, null, 2)}\n`;
}

/** Reads what was typed: an object, or the mistake with its place. */
export function readDefinition(source: string): { readonly value: Definition } | { readonly mistake: Mistake } {
  try {
    const value: unknown = JSON.parse(source);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: value as Definition };
    return { mistake: at(source, 0, '', 'a net is a JSON object with services in it') };
  } catch {
    const { offset, message } = brokenAt(source);
    return { mistake: at(source, offset, '', message) };
  }
}

/** What names a place in a definition: `services[1].url`, `services.1.url` or `/services/1/url`. */
const PATH = /(?:^|[\s`'"(])(\/?(?:services|journeys)(?:(?:\[\d+\])|(?:[./][\w-]+))*)/;
const LINE = /\bline (\d+)(?:,? column (\d+))?/;

/** The server's refusal at its place: the field that it names, else a path in its words, else the line, else the beginning. */
export function refusedAt(source: string, detail: string, field?: string): Mistake {
  const path = field ?? PATH.exec(detail)?.[1] ?? null;
  const parts = path === null ? [] : partsOf(path).slice(field === undefined ? 0 : 1);
  const offset = parts.length === 0 ? null : offsetOfPath(source, parts);
  if (offset !== null) return at(source, offset, parts.join('.'), detail);
  const line = LINE.exec(detail);
  if (line !== null) {
    return { line: Number(line[1]), column: Number(line[2] ?? 1), path: '', message: detail, nearest: null };
  }
  return at(source, 0, '', detail);
}

export function partsOf(path: string): string[] {
  return path.split(/[[\]./]+/).filter(Boolean);
}

/** Where the value of a path begins in a JSON text; the nearest that there is, null where it is no JSON. */
export function offsetOfPath(source: string, parts: readonly string[]): number | null {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  /** The way to what is read now: names of objects and places in arrays. */
  const way: (string | number)[] = [];
  const kinds: ('object' | 'array')[] = [];
  let key: string | null = null;
  let best: { offset: number; depth: number } | null = null;
  const begins = (offset: number) => {
    const here = way.map(String);
    const fits = here.length <= parts.length && here.every((part, index) => part === parts[index]);
    if (fits && here.length > (best?.depth ?? -1)) best = { offset, depth: here.length };
  };
  for (let found = token.exec(source); found !== null; found = token.exec(source)) {
    const [text] = found;
    const inObject = kinds.at(-1) === 'object';
    if (text === '{' || text === '[') {
      begins(found.index);
      kinds.push(text === '{' ? 'object' : 'array');
      way.push(text === '{' ? '' : 0);
      key = null;
    } else if (text === '}' || text === ']') {
      kinds.pop();
      way.pop();
    } else if (text === ',') {
      const last = way.at(-1);
      if (typeof last === 'number') way[way.length - 1] = last + 1;
      key = null;
    } else if (text === ':') {
      continue;
    } else if (inObject && key === null && text.startsWith('"')) {
      key = unquoted(text);
      way[way.length - 1] = key;
      // A key that should not be there is a place too.
      begins(found.index);
    } else begins(found.index);
  }
  return (best as { offset: number } | null)?.offset ?? null;
}

/** Whether some service is asked with headers of its own, which are kept as open as the rest. */
export function hasHeaders(definition: Definition): boolean {
  const { services } = definition;
  if (!Array.isArray(services)) return false;
  return services.some((service: unknown) => {
    if (typeof service !== 'object' || service === null || !('headers' in service)) return false;
    const { headers } = service;
    return typeof headers === 'object' && headers !== null && Object.keys(headers).length > 0;
  });
}

const TOKEN = /\s*(?:("(?:[^"\\\n]|\\.)*")|([{}[\],:])|(true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]))/y;

/** Where a text stops being JSON, and what should stand there: browsers do not agree on telling it. */
export function brokenAt(source: string): { readonly offset: number; readonly message: string } {
  type Wanted = 'a value' | 'a value or ]' | 'a key' | 'a key or }' | 'a colon' | 'a comma or }' | 'a comma or ]' | 'the end';
  const closes: ('}' | ']')[] = [];
  let wanted: Wanted = 'a value';
  let offset = 0;
  const afterValue = (): Wanted => (closes.length === 0 ? 'the end' : closes.at(-1) === '}' ? 'a comma or }' : 'a comma or ]');
  for (;;) {
    TOKEN.lastIndex = offset;
    const found = TOKEN.exec(source);
    const begins = offset + (/^\s*/.exec(source.slice(offset))?.[0].length ?? 0);
    const text = found?.[1] ?? found?.[2] ?? found?.[3];
    if (found === null || text === undefined) {
      const message = begins >= source.length ? `it ends too early: ${wanted} is missing` : `${wanted} is expected here`;
      return { offset: begins >= source.length ? source.trimEnd().length : begins, message };
    }
    const isValue = found[2] === undefined;
    const takesValue = wanted === 'a value' || wanted === 'a value or ]';
    if (takesValue && isValue) wanted = afterValue();
    else if (takesValue && (text === '{' || text === '[')) {
      closes.push(text === '{' ? '}' : ']');
      wanted = text === '{' ? 'a key or }' : 'a value or ]';
    } else if ((wanted === 'a key' || wanted === 'a key or }') && found[1] !== undefined) wanted = 'a colon';
    else if (wanted === 'a colon' && text === ':') wanted = 'a value';
    else if ((wanted === 'a comma or }' || wanted === 'a comma or ]') && text === ',') wanted = wanted === 'a comma or }' ? 'a key' : 'a value';
    else if (wanted.endsWith(text) && text === closes.at(-1)) {
      closes.pop();
      wanted = afterValue();
    } else return { offset: begins, message: `${wanted} is expected here` };
    offset = begins + text.length;
  }
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function at(source: string, offset: number, path: string, message: string): Mistake {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, path, message, nearest: null };
}
