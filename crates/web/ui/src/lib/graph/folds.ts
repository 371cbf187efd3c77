import { TEAMS_LIMIT } from '../route';

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
  return (folds.all ? ALL : '') + names.join(',');
}

/** Whether an address can hold it: letters that it has to write out take more of its room. */
export function fits(text: string): boolean {
  return new URLSearchParams([['', text]]).toString().length <= TEAMS_LIMIT;
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
  return team.replace(/[%,*-]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

function named(text: string): string | null {
  if (text === NOBODY) return '';
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
