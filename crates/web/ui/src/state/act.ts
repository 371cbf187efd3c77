import { tick } from 'svelte';
import { copy } from '../lib/clipboard';
import type { Action } from '../lib/commands';
import { neighbour } from '../lib/filter';
import { closes } from '../lib/keys';
import { pause } from '../lib/wait';
import { preferences } from './preferences.svelte';
import { readAgain } from './refresh';
import { router } from './router.svelte';
import { session } from './session.svelte';
import { shell } from './shell.svelte';
import { stream } from './stream.svelte';
import { voice } from './voice.svelte';

/** Where files are chosen. */
const CHOOSER = 'input[type="file"]';
/** A page whose code is still to come is there within this time, or nobody waits any more. */
const THERE_LIMIT_MS = 4_000;
const LOOK_MS = 50;

const ACTIONS: Record<Action, () => void> = {
  palette: () => {
    shell.toggle('palette');
  },
  help: () => {
    shell.toggle('help');
  },
  filter: () => {
    const filter = document.querySelector<HTMLInputElement>('[data-filter]');
    filter?.focus();
    filter?.select();
  },
  create: () => {
    const create = document.querySelector<HTMLElement>('[data-create]');
    if (create instanceof HTMLAnchorElement) create.click();
    else if (create?.querySelector(CHOOSER)) openChooser();
    else create?.querySelector('input')?.focus();
  },
  next: () => {
    walk(1);
  },
  previous: () => {
    walk(-1);
  },
  open: () => {
    const row = rowHere() ?? '';
    if (!shell.rows.includes(row)) return;
    if (shell.opens === null) router.change({ row, inspector: true });
    else shell.opens(row);
  },
  close: closeInnermost,
  'go-now': () => {
    router.go('now');
  },
  'go-services': () => {
    router.go('services');
  },
  'go-activity': () => {
    router.go('activity');
  },
  'go-wallboard': () => {
    router.go('now', { board: 'on' });
  },
  'go-graph': () => {
    router.go('graph');
  },
  'go-journeys': () => {
    router.go('journeys');
  },
  'add-journey': () => {
    router.go('journey-new');
  },
  'go-fleet': () => {
    router.go('fleet');
  },
  'go-nets': () => {
    router.go('nets');
  },
  'add-worker': () => {
    router.go('worker-new');
  },
  'add-net': () => {
    router.go('net-new');
  },
  'go-reports': () => {
    router.go('reports');
  },
  'upload-transcript': () => {
    router.go('reports');
    void whenThere(CHOOSER).then(openChooser);
  },
  'go-aliases': () => {
    router.go('aliases');
  },
  'add-service': () => {
    router.go('service-new');
  },
  'go-system': () => {
    router.go('system');
  },
  'go-instances': () => {
    router.go('instances');
  },
  'go-account': () => {
    router.go('account');
  },
  'go-admin': () => {
    router.go('users');
  },
  'go-jobs': () => {
    router.go('jobs');
  },
  'go-invites': () => {
    router.go('invites');
  },
  'go-requests': () => {
    router.go('requests');
  },
  'go-settings': () => {
    router.go('settings');
  },
  'go-audit': () => {
    router.go('audit');
  },
  theme: () => {
    preferences.nextTheme();
    voice.show(`Theme: ${preferences.theme}`);
  },
  'theme-system': () => {
    preferences.setTheme('system');
  },
  'theme-light': () => {
    preferences.setTheme('light');
  },
  'theme-dark': () => {
    preferences.setTheme('dark');
  },
  density: () => {
    preferences.nextDensity();
    voice.show(`Density: ${preferences.density}`);
  },
  'copy-link': () => void copyLink(),
  'read-now': () => {
    stream.tryNow();
    readAgain();
  },
  'sign-out': () => void session.signOut(),
};

export function act(action: Action): void {
  ACTIONS[action]();
}

export function focusRow(name: string): void {
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(name)}"]`)?.focus();
}

/** The selected row, or else the one that has the focus. */
function rowHere(): string | null {
  const focused = document.activeElement;
  const held = focused instanceof HTMLElement ? focused.dataset['row'] : undefined;
  return router.route.row ?? held ?? null;
}

function walk(step: 1 | -1): void {
  const row = neighbour(shell.rows, rowHere(), step);
  if (row === null) return;
  router.change({ row });
  void tick().then(() => {
    focusRow(row);
  });
}

function closeInnermost(): void {
  const { row, inspector, filter, where } = router.route;
  const focused = document.activeElement;
  const what = closes({
    overlay: shell.overlay !== null,
    field: isField(focused),
    filterField: focused?.matches('[data-filter]') ?? false,
    filter,
    inspector,
    row,
    board: where.board !== undefined,
  });
  if (what === 'overlay') shell.close();
  else if (what === 'filter') router.change({ filter: '' });
  else if (what === 'field' && isField(focused)) focused.blur();
  else if (what === 'inspector') closeInspector(row);
  else if (what === 'row') closeRow(row);
  else if (what === 'board') router.go('now');
}

/** Where the panel covered the list, the list takes the focus only once it is back. */
function closeInspector(row: string | null): void {
  router.change({ inspector: false });
  void tick().then(() => {
    if (row !== null) focusRow(row);
    focusPage();
  });
}

/** The row that had the focus keeps it: from there the arrows and Tab go on. */
function closeRow(row: string | null): void {
  const before = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(row ?? '')}"]`);
  router.change({ row: null });
  void tick().then(() => {
    // A list that selects what is focused would select it again.
    if (before?.getAttribute('role') !== 'row') takeFocus(before);
    focusPage();
  });
}

function takeFocus(element: HTMLElement | null): void {
  if (document.activeElement === document.body) element?.focus();
}

/** Nowhere is the worst place for the keyboard. */
function focusPage(): void {
  takeFocus(document.querySelector<HTMLElement>('#main'));
}

function isField(element: Element | null): element is HTMLElement {
  return element instanceof HTMLElement && element.matches('input, textarea, select');
}

/** A browser opens its chooser only for a key or a click that was just now. */
function openChooser(): void {
  const chooser = document.querySelector<HTMLInputElement>(CHOOSER);
  if (navigator.userActivation.isActive) chooser?.click();
  else chooser?.focus();
}

async function whenThere(selector: string): Promise<void> {
  const until = Date.now() + THERE_LIMIT_MS;
  while (document.querySelector(selector) === null && Date.now() < until) await pause(LOOK_MS);
}

async function copyLink(): Promise<void> {
  const done = await copy(location.href);
  voice.show(done ? 'Link copied' : 'This browser refuses to copy: take it from the address bar');
}
