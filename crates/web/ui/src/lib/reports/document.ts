import type { TimeWindow } from '../api/files';

/** Words of the call that show a claim, as the report has them. */
export interface Quote {
  readonly quote: string;
  readonly timecode: string | null;
  /** Whether it was said in the call or recorded, as far as anybody looked. */
  readonly found: boolean;
}

export interface Claim {
  readonly text: string;
  readonly evidence: readonly Quote[];
}

export interface Said {
  readonly at: string | null;
  readonly what: string;
  readonly evidence: readonly Quote[];
}

export interface Task {
  readonly owner: string | null;
  readonly action: string;
  readonly due: string | null;
  readonly evidence: readonly Quote[];
}

export interface Affected {
  readonly name: string;
  readonly effect: string;
  readonly evidence: readonly Quote[];
}

export const SEVERITIES = ['unknown', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A report that can be drawn, whatever was in the stored one. */
export interface ReportDocument {
  /** Empty where nobody could see it. */
  readonly title: string;
  readonly summary: string;
  readonly impact: Claim;
  readonly severity: Severity;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly timeline: readonly Said[];
  readonly rootCauses: readonly Claim[];
  readonly factors: readonly Claim[];
  readonly wentWell: readonly Claim[];
  readonly actions: readonly Task[];
  readonly affected: readonly Affected[];
  readonly questions: readonly Claim[];
}

/** What was recorded beside it. */
export interface Recorded {
  readonly from: string;
  readonly to: string;
  /** Of which part of it there are records; null for none, undefined where nobody told. */
  readonly covered: TimeWindow | null | undefined;
  readonly entries: readonly { readonly at: string; readonly what: string }[];
}

/**
 * Reads a report field by field: the server checked it against the schema of its version, but a field
 * of another version must not break the page. `notFound` points to the quotes that nobody said.
 */
export function documentOf(value: unknown, notFound: readonly string[] = []): ReportDocument {
  const report = fields(value);
  const made: Unfound = new Set(notFound.map((pointer) => pointed(value, pointer)));
  const claims = (name: string) => list(report[name]).map((one) => claim(one, 'text', made));
  return {
    title: seen(text(report['title'])),
    summary: text(report['summary']),
    impact: claim(report['impact'], 'text', made),
    severity: SEVERITIES.find((known) => known === report['severity']) ?? 'unknown',
    startedAt: maybe(report['started_at']),
    endedAt: maybe(report['ended_at']),
    timeline: list(report['timeline']).map((one) => said(one, made)),
    rootCauses: claims('root_causes'),
    factors: claims('contributing_factors'),
    wentWell: claims('what_went_well'),
    actions: list(report['actions']).map((one) => task(one, made)),
    affected: list(report['affected_dependencies']).map((one) => affected(one, made)),
    questions: list(report['open_questions']).map((one) => claim(one, 'question', made)),
  };
}

/** A text that can be seen; of one that is blank or hides in its line nothing is left. */
function seen(text: string): string {
  return /[^\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text) ? text : '';
}

/** What a report stands there by: its title, or the name of its transcript where nobody could see that. */
export function titleOf({ title, name }: { readonly title: string | null; readonly name: string }): string {
  return seen(title ?? '') || name;
}

/** Who wrote a report, in words: what Mainstay makes for tests is by no model. */
export function writtenBy(model: string): string {
  return model === 'fake' ? 'without a language model' : `by ${model}`;
}

/** That a report was not made of the whole call, in a line; empty when it was. */
export function leftOutText(lines: number | null): string {
  if (lines === null || lines === 0) return '';
  const left = lines === 1 ? '1 line' : `${String(lines)} lines`;
  return `The transcript is too long for the model: ${left} in the middle of the call were left out, and nothing in this report is of them.`;
}

export function recordedOf(value: unknown): Recorded | null {
  const recorded = fields(value);
  const [from, to] = [text(recorded['from']), text(recorded['to'])];
  if (from === '' || to === '') return null;
  const entries = list(recorded['entries']).map((one) => {
    const entry = fields(one);
    return { at: text(entry['at']), what: text(entry['what']) };
  });
  const covered = coveredOf(recorded['covered']);
  return { from, to, covered, entries: entries.filter(({ at }) => !Number.isNaN(Date.parse(at))) };
}

function coveredOf(value: unknown): TimeWindow | null | undefined {
  if (value === undefined || value === null) return value;
  const { from, to } = fields(value);
  return { from: text(from), to: text(to) };
}

type Fields = Readonly<Record<string, unknown>>;
/** The pieces of evidence that were not found. */
type Unfound = ReadonlySet<unknown>;

/** What a JSON pointer leads to; the names of a report need no escapes. */
function pointed(value: unknown, pointer: string): unknown {
  return pointer.split('/').slice(1).reduce<unknown>((at, name) => fields(at)[name], value);
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function maybe(value: unknown): string | null {
  return text(value) || null;
}

function quotes(value: unknown, made: Unfound): Quote[] {
  return list(value).map((one) => {
    const evidence = fields(one);
    return { quote: text(evidence['quote']), timecode: maybe(evidence['timecode']), found: !made.has(one) };
  });
}

function claim(value: unknown, name: string, made: Unfound): Claim {
  const given = fields(value);
  return { text: text(given[name]), evidence: quotes(given['evidence'], made) };
}

function said(value: unknown, made: Unfound): Said {
  const entry = fields(value);
  return { at: maybe(entry['at']), what: text(entry['what']), evidence: quotes(entry['evidence'], made) };
}

function task(value: unknown, made: Unfound): Task {
  const given = fields(value);
  return {
    owner: maybe(given['owner']),
    action: text(given['action']),
    due: maybe(given['due']),
    evidence: quotes(given['evidence'], made),
  };
}

function affected(value: unknown, made: Unfound): Affected {
  const given = fields(value);
  return { name: text(given['name']), effect: text(given['effect']), evidence: quotes(given['evidence'], made) };
}
