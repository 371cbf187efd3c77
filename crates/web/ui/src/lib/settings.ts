import type { Setting } from './api/settings';

/** Settings that belong together. */
export interface Group {
  readonly name: string;
  readonly title: string;
  readonly settings: readonly Setting[];
}

/** What is not named here goes by its own name. */
const TITLES: Readonly<Partial<Record<string, string>>> = {
  accounts: 'Accounts',
  client: 'Commands that talk to a server',
  data_dir: 'Data folder',
  database: 'Database',
  events: 'Events',
  environment: 'Environment',
  fleet: 'Fleet',
  fly: 'Fly Machines',
  history: 'History',
  http: 'Server',
  jobs: 'Background jobs',
  llm: 'Language model',
  log: 'Log',
  mail: 'Mail',
  metrics: 'Metrics',
  outbound: 'What may be called',
  poll: 'Polling',
  s3: 'Object storage',
  sprites: 'Sprites',
  sse: 'Live streams',
  telemetry: 'Traces',
  tls: 'TLS',
};

/** By the first word of the key, in the order of the keys. */
export function groups(settings: readonly Setting[]): Group[] {
  const names = [...new Set(settings.map(({ key }) => groupOf(key)))];
  return names.map((name) => ({
    name,
    title: TITLES[name] ?? headed(name),
    settings: settings.filter(({ key }) => groupOf(key) === name),
  }));
}

/** Where a value comes from, in a few words. */
export function sourceText({ key, source, source_name, value }: Pick<Setting, 'key' | 'source' | 'source_name' | 'value'>): string {
  if (value === null) return 'not set';
  // What has no flag of its own was set by the command, as the demo does.
  if (source_name === key) return 'the command itself';
  return source === 'default' ? 'default' : (source_name ?? source);
}

/** The line that sets it in the file; null where it has no value, or one that is a secret. */
export function tomlLine({ key, value, masked }: Pick<Setting, 'key' | 'value' | 'masked'>): string | null {
  return value === null || masked ? null : `${key} = ${value}`;
}

/** What the filter looks at. */
export function texts({ key, value, help, variables, flag, source_name }: Setting): string[] {
  return [key, value ?? '', help, ...variables, flag ?? '', source_name ?? ''];
}

/** `night_watch` as a heading: "Night watch". */
function headed(name: string): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');
}

const groupOf = (key: string) => key.split('.')[0] ?? key;
