import { keeping, read, readTagged, type Answer, type Body, type Tagged } from './client';
import type { components } from './schema';

type Schemas = components['schemas'];

/** Whether a service is what others fail because of, or fails because of another. */
export type Cause = Schemas['BoardItem']['cause'];
export type BoardItem = Schemas['BoardItem'];
export type Board = Schemas['Board'];
export type Strips = Schemas['Strips'];
export type Wallboard = Schemas['Wallboard'];
export type WallGroup = Schemas['WallGroup'];
export type WallFailing = Schemas['WallFailing'];

/** The server refuses more of them at once. */
export const STRIPS_LIMIT = 100;

/** Every service in one line: null when it is the board with this tag. */
export function readBoard(tag: string | null): Promise<Answer<Tagged<Board> | null>> {
  return readTagged('/api/board', tag, isBoard);
}

export function readStrips(
  ids: readonly string[],
  unwanted: AbortSignal,
): Promise<Answer<Strips>> {
  return read(`/api/board/strips?ids=${ids.join(',')}`, isStrips, unwanted);
}

const walls = keeping(isWallboard);

/** What everything leans on, by name, the worst first, and who fails though nobody leans on it. */
export function readWallboard(): Promise<Answer<Wallboard>> {
  return walls('/api/wallboard');
}

function isBoard(body: Body): body is Body & Board {
  return Array.isArray(body['items']) && typeof body['is_cut'] === 'boolean';
}

function isStrips(body: Body): body is Body & Strips {
  return Array.isArray(body['items']) && typeof body['cell_ms'] === 'number';
}

function isWallboard(body: Body): body is Body & Wallboard {
  return Array.isArray(body['items']) && Array.isArray(body['failing']);
}
