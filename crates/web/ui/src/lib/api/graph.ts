import { change, read, readTagged, write, type Answer, type Body, type Tagged } from './client';
import { isSlice } from './list';
import type { Slice } from './accounts';
import type { components } from './schema';

type Schemas = components['schemas'];

export type GraphView = Schemas['GraphView'];
export type GraphNode = Schemas['GraphNode'];
export type GraphEdge = Schemas['GraphEdge'];
export type GraphNodeName = Schemas['GraphNodeName'];
export type RootCause = Schemas['GraphRootCause'];
export type GraphCycle = Schemas['GraphCycle'];
export type GraphHurt = Schemas['GraphHurt'];
export type GraphImpact = Schemas['GraphImpact'];
export type Suggestion = Schemas['GraphSuggestion'];
export type Board = Schemas['Board'];
export type BoardItem = Schemas['BoardItem'];
export type HistoryPage = Schemas['HistoryPage'];
export type HistoryItem = Schemas['HistoryItem'];
export type WholeState = Schemas['WholeState'];

const PATH = '/api/graph';

/** The part of the graph that is asked for; all of it, as it is now, when nothing is named. */
export interface Part {
  readonly service?: string;
  readonly depth?: string;
  readonly at?: string;
}

export function readGraph(part: Part, tag: string | null): Promise<Answer<Tagged<GraphView>>> {
  const query = new URLSearchParams(Object.entries(part)).toString();
  return readTagged(query === '' ? PATH : `${PATH}?${query}`, tag, isGraph);
}

/** A service with what it leans on and who leans on it, and why each is as it is. */
export function readAround(service: string): Promise<Answer<GraphView>> {
  return read(`${PATH}?${new URLSearchParams({ service, depth: '1' }).toString()}`, isGraph);
}

/** A time as the server writes it. */
export function isoOf(time: number): string {
  return new Date(time).toISOString();
}

/** A page of what changed in a span, with how everything was before on the first one. */
export function readSpan(
  from: number,
  to: number,
  cursor: string | null,
): Promise<Answer<HistoryPage>> {
  const query = new URLSearchParams({ from: isoOf(from), to: isoOf(to) });
  if (cursor !== null) query.set('cursor', cursor);
  return read(`${PATH}/history?${query.toString()}`, isHistory);
}

export function readImpact(node: string): Promise<Answer<GraphImpact>> {
  return read(`${PATH}/impact?${new URLSearchParams({ node }).toString()}`, isImpact);
}

export function readSuggestions(): Promise<Answer<Slice<Suggestion>>> {
  return read(`${PATH}/suggestions`, isSlice<Suggestion>);
}

/** Says that the thing is the service. */
export function confirmSuggestion({ key, service_id }: Suggestion): Promise<Answer<Body>> {
  return write('POST', `${PATH}/suggestions/confirm`, { key, service_id }, isBody);
}

/** Says that it is not. */
export function dismissSuggestion({ key, service_id }: Suggestion): Promise<Answer<null>> {
  return change('POST', `${PATH}/suggestions/dismiss`, { key, service_id });
}

export function readBoard(tag: string | null): Promise<Answer<Tagged<Board>>> {
  return readTagged('/api/board', tag, isBoard);
}

const isBody = (body: Body): body is Body => typeof body === 'object';

function isGraph(body: Body): body is Body & GraphView {
  return ['nodes', 'edges', 'root_causes', 'cycles'].every((name) => Array.isArray(body[name]));
}

function isHistory(body: Body): body is Body & HistoryPage {
  return Array.isArray(body['items']) && typeof body['from'] === 'string';
}

function isImpact(body: Body): body is Body & GraphImpact {
  return Array.isArray(body['services']) && typeof body['node'] === 'object';
}

function isBoard(body: Body): body is Body & Board {
  return Array.isArray(body['items']);
}
