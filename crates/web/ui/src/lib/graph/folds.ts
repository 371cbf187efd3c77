import { VALUE_LIMIT } from '../route';

/** Which teams are folded: all but these, or only these. */
export interface Folds {
  readonly all: boolean;
  readonly except: ReadonlySet<string>;
}

const ALL = '*';

/** What the address says; without a word of it the size of the graph decides. */
export function foldsOf(text: string | undefined, many: boolean): Folds {
  if (text === undefined || text === '') return { all: many, except: new Set() };
  const all = text.startsWith(ALL);
  const names = (all ? text.slice(1) : text).split(',').filter((name) => name !== '');
  return { all, except: new Set(names.map(named).filter((name) => name !== null)) };
}

export function isFolded({ all, except }: Folds, team: string): boolean {
  return all !== except.has(team);
}

/** As the address holds it; a comma alone says that none is folded where all would be. */
export function foldsText(folds: Folds, many: boolean): string {
  const names = [...folds.except].sort().map(written);
  if (names.length === 0) return folds.all === many ? '' : folds.all ? ALL : ',';
  // A name that does not fit is left out: the address is cut where it is read.
  const kept: string[] = [];
  let room = VALUE_LIMIT - 1;
  for (const name of names) {
    room -= name.length + 1;
    if (room >= 0) kept.push(name);
  }
  return (folds.all ? ALL : '') + kept.join(',');
}

export function toggled({ all, except }: Folds, team: string): Folds {
  const next = new Set(except);
  if (!next.delete(team)) next.add(team);
  return { all, except: next };
}

/** A team without a name has one letter here, which no other has alone. */
const NOBODY = '-';

function written(team: string): string {
  if (team === '') return NOBODY;
  return encodeURIComponent(team).replace(/[*-]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

function named(text: string): string | null {
  if (text === NOBODY) return '';
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
