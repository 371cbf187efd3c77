import { isolated } from './isolate';

/** What something is called by everybody, and by whom reports it where that differs. */
export interface Called {
  readonly name: string;
  readonly as: string | null;
}

export function called(name: string, reported: string): Called {
  return { name, as: name === reported ? null : reported };
}

/** "PostgreSQL main, as orders-db". */
export function calledText({ name, as }: Called): string {
  return as === null ? name : `${isolated(name)}, as ${isolated(as)}`;
}

/** A name as it is compared with others, as the server does. */
export function compared(name: string): string {
  return name.trim().toLowerCase();
}
