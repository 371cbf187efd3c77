import { RANGES, type Dependency, type DependencyError, type Range } from '../../lib/api/dependencies';
import type { ServiceDetail } from '../../lib/api/services';
import { statusOf, type Status } from '../../lib/status';

/** What happens now matters most to who looks first. */
export const DEFAULT_RANGE: Range = '1h';

/** The range of an address; what it does not know is the usual one. */
export function rangeOf(word: string | undefined): Range {
  return RANGES.find((range) => range === word) ?? DEFAULT_RANGE;
}

const WORST = ['down', 'degraded', 'unknown', 'healthy', 'skipped'];

/** The worst first, of equals as the server has them: by name. */
export function byWorst(dependencies: readonly Dependency[]): Dependency[] {
  return [...dependencies].sort(
    (one, other) => WORST.indexOf(one.status) - WORST.indexOf(other.status),
  );
}

/** The one to look at first: the worst, and of equals the slowest. */
export function worstAndSlowest(dependencies: readonly Dependency[]): Dependency | undefined {
  return byWorst([...dependencies].sort((one, other) => (other.latency_ms ?? 0) - (one.latency_ms ?? 0)))[0];
}

/** What a dependency has to say in one line: what is wrong, or else what it is for. */
export function messageOf({ error_message, error, description }: Dependency): string {
  return error_message ?? jsonText(error) ?? description ?? '';
}

/** What was wrong, in one line; null for the end of it. */
export function errorText({ error_message, error }: DependencyError): string | null {
  return error_message ?? jsonText(error);
}

/** How it was found then; what was wrong before anybody noted how is not known. */
export function errorStatus(item: DependencyError): Status {
  return errorText(item) === null ? 'healthy' : statusOf(item.status ?? 'unknown');
}

/** What the server writes where a check gave no error of its own. */
const NO_ERROR_GIVEN = '{"unhealthy":true}';

/** What else is known of an error beside its line. */
export function errorDetail(item: DependencyError): string | null {
  const json = jsonText(item.error);
  return json === errorText(item) || json === NO_ERROR_GIVEN ? null : json;
}

/** An error with the dependency that had it. */
export interface ErrorOf {
  readonly key: string;
  readonly name: string;
  readonly at: string;
  /** Null for the end of one. */
  readonly text: string | null;
  readonly status: Status;
}

/** The errors of some dependencies since a moment, newest first. */
export function errorsOf(
  dependencies: readonly Pick<Dependency, 'id' | 'name'>[],
  held: Readonly<Partial<Record<string, { readonly items: readonly DependencyError[] }>>>,
  since: number,
): ErrorOf[] {
  const all = dependencies.flatMap(({ id, name }) =>
    (held[id]?.items ?? []).map((item, at) => ({
      key: `${id} ${item.at} ${String(at)}`,
      name,
      at: item.at,
      text: errorText(item),
      status: errorStatus(item),
    })),
  );
  return all
    .filter(({ at }) => Date.parse(at) >= since)
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** Any JSON as a line of text; null where there is nothing. */
export function jsonText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What stands where the dependencies would. */
export function noneText({ format, last_poll }: Pick<ServiceDetail, 'format' | 'last_poll'>): string {
  if (format === 'status') return 'Its format is status: any 2xx is healthy, and nothing more is read.';
  if (last_poll === null) return 'It was not polled yet.';
  if (!last_poll.success) return 'Nothing is known: its last poll failed.';
  return 'Its answer names nothing that it leans on.';
}
