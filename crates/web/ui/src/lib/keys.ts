/** What a key does. The same table feeds the listener, the help, the palette and the tooltips. */
export type Command =
  | 'palette'
  | 'help'
  | 'filter'
  | 'next'
  | 'previous'
  | 'open'
  | 'close'
  | 'go-now'
  | 'go-activity'
  | 'go-wallboard'
  | 'go-services'
  | 'go-graph'
  | 'go-journeys'
  | 'go-fleet'
  | 'go-reports'
  | 'go-system'
  | 'go-account'
  | 'go-admin'
  | 'go-jobs'
  | 'create'
  | 'theme'
  | 'density';

export interface Binding {
  readonly command: Command;
  /** One entry for each key to press, one after the other. */
  readonly keys: readonly string[];
  readonly says: string;
  /** Of use only to admins, so others are not shown it. */
  readonly admin?: boolean;
}

/** What the palette is for. */
export const FIND_SAYS = 'Find anything by its name';

export const BINDINGS: readonly Binding[] = [
  { command: 'palette', keys: ['Mod+K'], says: FIND_SAYS },
  { command: 'go-now', keys: ['g', 'n'], says: 'Go to Now' },
  { command: 'go-activity', keys: ['g', 'c'], says: 'Go to Activity' },
  { command: 'go-wallboard', keys: ['g', 'w'], says: 'Go to the wallboard' },
  { command: 'go-services', keys: ['g', 's'], says: 'Go to Services' },
  { command: 'go-graph', keys: ['g', 'g'], says: 'Go to the Graph' },
  { command: 'go-journeys', keys: ['g', 'o'], says: 'Go to Journeys' },
  { command: 'go-fleet', keys: ['g', 'f'], says: 'Go to the Fleet' },
  { command: 'go-reports', keys: ['g', 'r'], says: 'Go to Reports' },
  { command: 'go-system', keys: ['g', 'y'], says: 'Go to System' },
  { command: 'go-account', keys: ['g', 'a'], says: 'Go to Account' },
  { command: 'go-admin', keys: ['g', 'u'], says: 'Go to Users', admin: true },
  { command: 'go-jobs', keys: ['g', 'j'], says: 'Go to Jobs', admin: true },
  { command: 'filter', keys: ['/'], says: 'Filter the list' },
  { command: 'previous', keys: ['['], says: 'Previous row' },
  { command: 'next', keys: [']'], says: 'Next row' },
  { command: 'open', keys: ['Enter'], says: 'Open the row beside the list' },
  { command: 'create', keys: ['c'], says: 'Create a service, a journey, a worker, a net, an invite or a token, or upload a transcript' },
  { command: 'close', keys: ['Esc'], says: 'Close what is open' },
  { command: 'theme', keys: ['t'], says: 'Switch the theme' },
  { command: 'density', keys: ['d'], says: 'Switch the density' },
  { command: 'help', keys: ['?'], says: 'Show the keys' },
];

/** Keys that mean something only where the focus is. */
export interface LocalKeys {
  readonly where: string;
  readonly keys: readonly { readonly keys: readonly string[]; readonly says: string }[];
}

export const LOCAL_KEYS: readonly LocalKeys[] = [
  {
    where: 'In a list',
    keys: [
      { keys: ['Space'], says: 'Open the row, as Enter does' },
      { keys: ['Esc'], says: 'In its filter: clear it, then leave it' },
    ],
  },
  {
    where: 'On a row of the services',
    keys: [{ keys: ['←', '→'], says: 'Walk its last 24 hours' }],
  },
  {
    where: 'On the graph',
    keys: [
      { keys: ['←'], says: 'To who leans on the node' },
      { keys: ['→'], says: 'To what the node leans on' },
      { keys: ['↑', '↓'], says: 'Within its layer' },
      { keys: ['Space'], says: 'Open the node, or unfold the team' },
      { keys: ['+', '−'], says: 'Closer, or further away' },
      { keys: ['0'], says: 'Show everything' },
    ],
  },
  {
    where: 'On the time below the graph',
    keys: [
      { keys: ['←', '→'], says: 'A step back or on; ten with Shift' },
      { keys: ['PgDn'], says: 'Back to the incident before' },
      { keys: ['PgUp'], says: 'On to the next incident' },
      { keys: ['Home'], says: 'To where the span begins' },
      { keys: ['End'], says: 'Back to live' },
      { keys: ['Space'], says: 'Play or pause' },
    ],
  },
];

/** What Escape closes. */
export type Closes = 'overlay' | 'filter' | 'field' | 'inspector' | 'row' | 'board' | null;

/** What is open, as far as Escape is concerned. */
export interface Open {
  readonly overlay: boolean;
  /** The focus is in a field, and in the one that filters the list. */
  readonly field: boolean;
  readonly filterField: boolean;
  readonly filter: string;
  readonly inspector: boolean;
  readonly row: string | null;
  readonly board: boolean;
}

/** One Escape closes one thing, from the inside out. */
export function closes(open: Open): Closes {
  if (open.overlay) return 'overlay';
  if (open.filterField && open.filter !== '') return 'filter';
  if (open.field) return 'field';
  if (open.inspector) return 'inspector';
  if (open.row !== null) return 'row';
  return open.board ? 'board' : null;
}

/** The parts of a keyboard event that decide, and what the focus is on. */
export interface Press {
  readonly key: string;
  readonly mod: boolean;
  readonly alt: boolean;
  /** The focus is where text is typed. */
  readonly typing: boolean;
  /** The focus is on a link or a button, which take Enter and Space themselves. */
  readonly onControl: boolean;
  readonly now: number;
}

/** The first key of a sequence, while its second one is awaited. */
export interface Awaiting {
  readonly key: string;
  readonly since: number;
}

export interface Outcome {
  readonly command: Command | null;
  readonly awaiting: Awaiting | null;
}

export const SEQUENCE_MS = 1_500;

export function press(awaiting: Awaiting | null, event: Press): Outcome {
  const none: Outcome = { command: null, awaiting: null };
  if (event.mod) {
    const palette = event.key.toLowerCase() === 'k' && !event.alt;
    return palette ? { command: 'palette', awaiting: null } : none;
  }
  if (event.alt) return none;
  if (event.key === 'Escape') return { command: 'close', awaiting: null };
  if (event.typing) return none;
  if (event.key === 'Enter' || event.key === ' ') {
    return event.onControl ? none : { command: 'open', awaiting: null };
  }
  if (awaiting === null || event.now - awaiting.since > SEQUENCE_MS) return firstKey(event);
  return { command: find([awaiting.key, event.key]), awaiting: null };
}

/** The keys of a command as they stand on this platform's keyboard. */
export function keysOf(command: Command, apple: boolean): readonly string[] {
  const keys = BINDINGS.find((binding) => binding.command === command)?.keys ?? [];
  return keys.flatMap((key) => (key === 'Mod+K' ? (apple ? ['⌘', 'K'] : ['Ctrl', 'K']) : [key]));
}

function firstKey({ key, now }: Press): Outcome {
  const opens = BINDINGS.some(({ keys }) => keys.length > 1 && keys[0] === key);
  if (opens) return { command: null, awaiting: { key, since: now } };
  return { command: find([key]), awaiting: null };
}

function find(pressed: readonly string[]): Command | null {
  const same = (keys: readonly string[]) =>
    keys.length === pressed.length && keys.every((key, at) => key === pressed[at]);
  return BINDINGS.find(({ keys }) => same(keys))?.command ?? null;
}
