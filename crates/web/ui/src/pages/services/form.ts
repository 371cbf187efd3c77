import type { Failure } from '../../lib/api/client';
import type { NewService, Service, ServiceChange } from '../../lib/api/services';

export const FORMATS = ['proactive-deps', 'schema', 'status'] as const;
export type Format = (typeof FORMATS)[number];

export const FORMAT_MEANS: Record<Format, string> = {
  'proactive-deps': 'an array of dependencies, each with a name and healthy: for endpoints of your own',
  schema: 'any JSON, read by a mapping: for what a framework answers',
  status: 'nothing to read: any 2xx is healthy',
};

export interface Header {
  /** Tells rows apart that have no name yet. */
  readonly key: number;
  name: string;
  /** Empty for one that is kept as it is: the server never shows it. */
  value: string;
  /** The server has it. */
  readonly kept: boolean;
  removed: boolean;
}

/** A service as it stands in the form: everything is text until it is sent. */
export interface Draft {
  name: string;
  team: string;
  endpoint: string;
  format: Format;
  mapping: string;
  /** In seconds, as people think of it. */
  interval: string;
  timeout: string;
  active: boolean;
  headers: Header[];
}

export type FieldName = 'name' | 'team' | 'endpoint' | 'format' | 'mapping' | 'interval' | 'timeout' | 'headers';
export type Problems = Partial<Record<FieldName, string>>;

export const NAME_MAX = 100;
const SECOND = 1_000;
const INTERVAL_S = { least: 5, most: 3_600 };
const TIMEOUT_S = { least: 0.1, most: 30 };

export function newDraft(): Draft {
  return {
    name: '',
    team: '',
    endpoint: '',
    format: 'proactive-deps',
    mapping: '',
    interval: '30',
    timeout: '10',
    active: true,
    headers: [],
  };
}

export function draftOf(service: Service): Draft {
  return {
    name: service.name,
    team: service.team ?? '',
    endpoint: service.health_endpoint,
    format: FORMATS.find((format) => format === service.format) ?? 'proactive-deps',
    mapping: service.schema_config === null ? '' : pretty(inOrder(service.schema_config)),
    interval: String(service.poll_interval_ms / SECOND),
    timeout: String(service.timeout_ms / SECOND),
    active: service.is_active,
    headers: service.header_names.map((name, key) => ({ key, name, value: '', kept: true, removed: false })),
  };
}

/** What is wrong with a draft, as far as it is known without the server. */
export function problemsOf(draft: Draft): Problems {
  const problems: Problems = {};
  if (draft.name.trim() === '') problems.name = 'Give it a name.';
  const endpoint = endpointProblem(draft.endpoint);
  if (endpoint !== null) problems.endpoint = endpoint;
  const mapping = draft.format === 'schema' ? mappingProblem(draft.mapping) : null;
  if (mapping !== null) problems.mapping = mapping;
  const interval = secondsProblem(draft.interval, INTERVAL_S);
  if (interval !== null) problems.interval = interval;
  const timeout = secondsProblem(draft.timeout, TIMEOUT_S);
  if (timeout !== null) problems.timeout = timeout;
  if (draft.headers.some((header) => !header.kept && isHalf(header))) {
    problems.headers = 'Each header needs a name and a value.';
  }
  return problems;
}

/** Why an endpoint can't be asked; null when it can. */
export function endpointProblem(text: string): string | null {
  if (text.trim() === '') return 'Give the address that answers how it is.';
  if (!/^https?:\/\/[^/\s]/i.test(text.trim())) return 'It begins with http:// or https://.';
  return URL.canParse(text.trim()) ? null : 'This is no address.';
}

/** Why a text is no mapping; null when it may be one. */
export function mappingProblem(text: string): string | null {
  if (text.trim() === '') return 'Give a mapping, or start from one of a framework.';
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? null : 'A mapping is an object with "root" and "fields".';
  } catch (error) {
    return `This is not JSON yet: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export function newService(draft: Draft): NewService {
  const headers = headerChanges(draft.headers);
  return {
    name: draft.name.trim(),
    health_endpoint: draft.endpoint.trim(),
    format: draft.format,
    ...(draft.format === 'schema' ? { schema_config: mappingOf(draft) } : {}),
    poll_interval_ms: milliseconds(draft.interval),
    timeout_ms: milliseconds(draft.timeout),
    ...(draft.team.trim() === '' ? {} : { team: draft.team.trim() }),
    ...(headers === null ? {} : { headers: headers as Record<string, string> }),
    is_active: draft.active,
  };
}

/** What was changed, and nothing else: what somebody else changed meanwhile stays. */
export function changeOf(draft: Draft, before: Draft): ServiceChange {
  const change: ServiceChange = {};
  if (draft.name.trim() !== before.name) change.name = draft.name.trim();
  if (draft.team.trim() !== before.team) change.team = draft.team.trim() || null;
  if (draft.endpoint.trim() !== before.endpoint) change.health_endpoint = draft.endpoint.trim();
  if (draft.format !== before.format) change.format = draft.format;
  const remapped = draft.format !== before.format || draft.mapping !== before.mapping;
  if (draft.format === 'schema' && remapped) change.schema_config = mappingOf(draft);
  if (draft.interval !== before.interval) change.poll_interval_ms = milliseconds(draft.interval);
  if (draft.timeout !== before.timeout) change.timeout_ms = milliseconds(draft.timeout);
  if (draft.active !== before.active) change.is_active = draft.active;
  const headers = headerChanges(draft.headers);
  if (headers !== null) change.headers = headers;
  return change;
}

const FIELD_OF_CODE: Record<string, FieldName> = {
  name_taken: 'name',
  invalid_name: 'name',
  invalid_team: 'team',
  invalid_health_endpoint: 'endpoint',
  blocked_address: 'endpoint',
  invalid_format: 'format',
  invalid_schema_config: 'mapping',
  invalid_poll_interval_ms: 'interval',
  invalid_timeout_ms: 'timeout',
  invalid_headers: 'headers',
};

/** The field that the server refused; null when it was none. */
export function refusedField({ code }: Pick<Failure, 'code'>): FieldName | null {
  return code === null ? null : (FIELD_OF_CODE[code] ?? null);
}

/** The mappings of the guide, to start from. */
export const TEMPLATES: readonly { readonly title: string; readonly mapping: string }[] = [
  {
    title: 'Spring Boot Actuator',
    mapping: pretty({
      root: 'components',
      fields: {
        name: '$key',
        healthy: 'status',
        checkDetails: 'details',
        errorMessage: 'details.error',
      },
    }),
  },
  {
    title: 'ASP.NET Health Checks',
    mapping: pretty({
      root: 'entries',
      fields: {
        name: '$key',
        healthy: 'status',
        latency: 'duration',
        description: 'description',
        checkDetails: 'data',
        errorMessage: 'exception',
      },
    }),
  },
  {
    title: 'A nested array',
    mapping: pretty({
      root: 'report.checks',
      fields: {
        name: 'id',
        type: 'kind',
        healthy: { field: 'ok', equals: '1' },
        latency: 'timing.ms',
        errorMessage: 'problems[0].text',
        skipped: { field: 'mode', equals: 'disabled' },
      },
    }),
  },
];

/** Headers to set, and with null those to take away; null when all stay as they are. */
function headerChanges(headers: readonly Header[]): Record<string, string | null> | null {
  const changed = headers
    .filter(({ kept, removed, value }) => !kept || removed || value !== '')
    .filter((header) => header.kept || header.name.trim() !== '')
    .map(({ name, value, removed }) => [name.trim(), removed ? null : value] as const);
  return changed.length === 0 ? null : Object.fromEntries(changed);
}

const isHalf = ({ name, value }: Header) => (name.trim() === '') !== (value === '');

function secondsProblem(text: string, { least, most }: typeof INTERVAL_S): string | null {
  const value = Number(text.trim());
  const fits = text.trim() !== '' && value >= least && value <= most;
  return fits ? null : `A number of seconds from ${String(least)} to ${String(most)}.`;
}

const milliseconds = (text: string) => Math.round(Number(text.trim()) * SECOND);

function mappingOf({ mapping }: Draft): Record<string, never> {
  // The form is sent only when it is an object; what it holds the server judges.
  return JSON.parse(mapping) as Record<string, never>;
}

/** As people write a mapping; the server keeps no order. */
const ORDER = ['root', 'fields', 'name', 'healthy', 'field', 'equals'];

function inOrder(value: unknown): unknown {
  if (!isObject(value)) return value;
  const place = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
  const entries = Object.entries(value).sort(([one], [other]) => place(one) - place(other));
  return Object.fromEntries(entries.map(([key, held]) => [key, inOrder(held)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
