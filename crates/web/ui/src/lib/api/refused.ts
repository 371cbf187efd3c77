import type { Failure } from './client';

const BAD_REQUEST = 400;
const NOT_FOUND = 404;

/** The question itself was refused, so that only another one helps: what narrows it is to go. */
export function isRefused(failure: Failure | null, narrowed: boolean): boolean {
  return narrowed && (failure?.status === BAD_REQUEST || failure?.status === NOT_FOUND);
}
