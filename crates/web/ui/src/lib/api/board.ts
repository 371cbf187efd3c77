import type { Answer, Body } from './client';
import type { components } from './schema';
import { readTagged, type Tagged } from './tagged';

type Schemas = components['schemas'];

/** Whether a service is what others fail because of, or fails because of another. */
export type Cause = Schemas['BoardItem']['cause'];
export type BoardItem = Schemas['BoardItem'];
export type Board = Schemas['Board'];
export type Strips = Schemas['Strips'];
export type Wallboard = Schemas['Wallboard'];
export type WallGroup = Schemas['WallGroup'];
export type GraphView = Schemas['GraphView'];

/** The server refuses more of them at once. */
export const STRIPS_LIMIT = 100;

export function readBoard(tag: string | null): Promise<Answer<Tagged<Board> | null>> {
  return readTagged('/api/board', tag, isBoard);
}

/** Null when nobody wants them any more. */
export async function readStrips(
  ids: readonly string[],
  unwanted: AbortSignal,
): Promise<Answer<Tagged<Strips> | null>> {
  return readTagged(`/api/board/strips?ids=${ids.join(',')}`, null, isStrips, unwanted);
}

export function readWallboard(tag: string | null): Promise<Answer<Tagged<Wallboard> | null>> {
  return readTagged('/api/wallboard', tag, isWallboard);
}

/** Who leans on what. */
export function readLeaning(tag: string | null): Promise<Answer<Tagged<GraphView> | null>> {
  return readTagged('/api/graph', tag, isGraph);
}

function isBoard(body: Body): body is Body & Board {
  return Array.isArray(body['items']) && typeof body['is_cut'] === 'boolean';
}

function isStrips(body: Body): body is Body & Strips {
  return Array.isArray(body['items']) && typeof body['cell_ms'] === 'number';
}

function isWallboard(body: Body): body is Body & Wallboard {
  return Array.isArray(body['items']) && typeof body['total'] === 'number';
}

function isGraph(body: Body): body is Body & GraphView {
  return Array.isArray(body['nodes']) && Array.isArray(body['edges']);
}
