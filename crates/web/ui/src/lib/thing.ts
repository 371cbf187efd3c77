import type { Dependency } from './api/dependencies';
import { compared } from './names';
import { latency } from './time';

/** What those who report a thing say of it, put together. */
export interface ThingFacts {
  /** The error texts, each once, with who gives them; the worst first. */
  readonly errors: readonly { readonly text: string; readonly by: readonly string[] }[];
  readonly impact: string | null;
  readonly description: string | null;
  readonly contact: object | null;
  readonly types: readonly string[];
  /** The names by which it is reported, where they differ from its own. */
  readonly names: readonly string[];
  /** "12 ms", or from the least to the most; null when nobody says. */
  readonly latency: string | null;
}

/** What a service says of a thing, or said of it. */
interface Report {
  readonly service_name: string;
  readonly dependency: Pick<Dependency, 'name' | 'status' | 'error_message' | 'impact' | 'description' | 'contact' | 'type'> & {
    readonly latency_ms?: number | null;
  };
}

/** A thing with what is said of it. */
export interface Reported {
  readonly node: { readonly name: string; readonly status: string };
  readonly reports: readonly Report[];
}

export function factsOf({ node, reports }: Reported): ThingFacts {
  const all = reports.map(({ dependency }) => dependency);
  const first = <Value>(values: readonly (Value | null | undefined)[]): Value | null =>
    values.find((value) => value !== null && value !== undefined) ?? null;
  return {
    errors: errorsOf(reports),
    impact: first(all.map(({ impact }) => impact)),
    description: first(all.map(({ description }) => description)),
    contact: first(all.map(({ contact }) => contact)),
    types: [...new Set(all.map(({ type }) => type))].filter((type) => type !== ''),
    names: [...new Set(all.map(({ name }) => name))].filter((name) => compared(name) !== compared(node.name)),
    // What was measured last by who can't be asked tells nothing of now.
    latency: latencyText(all.flatMap(({ latency_ms: ms = null, status }) => (ms === null || status === 'unknown' ? [] : [ms]))),
  };
}

/** Who has nothing to say but that it fails says nothing here. */
function errorsOf(reports: readonly Report[]): ThingFacts['errors'] {
  const found = new Map<string, string[]>();
  for (const { service_name, dependency } of reports) {
    const text = dependency.error_message?.trim() ?? '';
    const fails = dependency.status === 'down' || dependency.status === 'degraded';
    if (text === '' || !fails) continue;
    found.set(text, [...(found.get(text) ?? []), service_name]);
  }
  return [...found].map(([text, by]) => ({ text, by }));
}

function latencyText(all: readonly number[]): string | null {
  if (all.length === 0) return null;
  const [least, most] = [latency(Math.min(...all)), latency(Math.max(...all))];
  return least === most ? least : `${least} to ${most}`;
}
