import { keeping, read, type Answer, type Body } from './client';
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
export type NodeDetail = Schemas['NodeDetail'];
export type NodeReport = Schemas['NodeReport'];
export type NodeThen = Schemas['NodeThen'];
export type HistoryPage = Schemas['HistoryPage'];
export type HistoryItem = Schemas['HistoryItem'];
export type WholeState = Schemas['WholeState'];

const PATH = '/api/graph';

/** The part of the graph that is asked for; all of it when nothing is named. */
export interface Part {
  readonly service?: string;
  readonly depth?: string;
}

/** Reads parts of the graph, one after the other: what has not changed is not sent again. */
export function graphReader(): (part: Part) => Promise<Answer<GraphView>> {
  const kept = keeping(isGraph);
  return (part) => kept(pathOf(part));
}

/** The graph as it was at a moment. */
export function readMoment(moment: number, part: Part): Promise<Answer<GraphView>> {
  return read(pathOf({ ...part, at: isoOf(moment) }), isGraph);
}

/** A service with what it leans on and who leans on it, and why each is as it is. */
export function readAround(service: string): Promise<Answer<GraphView>> {
  return read(`${PATH}?${new URLSearchParams({ service, depth: '1' }).toString()}`, isGraph);
}

/** A time as the server writes it. */
export function isoOf(time: number): string {
  return new Date(time).toISOString();
}

/** A page of what changed in a span, the newest of it where that is too much, with how everything was before on the first one. */
export function readSpan(
  from: number,
  to: number,
  most: number,
  cursor: string | null,
): Promise<Answer<HistoryPage>> {
  const query = new URLSearchParams({ from: isoOf(from), to: isoOf(to), most: String(most) });
  if (cursor !== null) query.set('cursor', cursor);
  return read(`${PATH}/history?${query.toString()}`, isHistory);
}

export function readImpact(node: string): Promise<Answer<GraphImpact>> {
  return read(`${PATH}/impact?${new URLSearchParams({ node }).toString()}`, isImpact);
}

/** What is known of one node, with what everybody says of it. */
export function readNode(node: string): Promise<Answer<NodeDetail>> {
  return read(`${PATH}/node?${new URLSearchParams({ node }).toString()}`, isNode);
}

/** What was known of one node at a moment, with what everybody said of it. */
export function readNodeThen(node: string, moment: number): Promise<Answer<NodeThen>> {
  return read(`${PATH}/node/then?${new URLSearchParams({ node, at: isoOf(moment) }).toString()}`, isNodeThen);
}

function pathOf(part: Part & { readonly at?: string }): string {
  const query = new URLSearchParams(Object.entries(part)).toString();
  return query === '' ? PATH : `${PATH}?${query}`;
}

function isGraph(body: Body): body is Body & GraphView {
  return ['nodes', 'edges', 'root_causes', 'cycles'].every((name) => Array.isArray(body[name]));
}

function isHistory(body: Body): body is Body & HistoryPage {
  return Array.isArray(body['items']) && typeof body['from'] === 'string';
}

function isNode(body: Body): body is Body & NodeDetail {
  return Array.isArray(body['reports']) && typeof body['node'] === 'object';
}

function isNodeThen(body: Body): body is Body & NodeThen {
  return Array.isArray(body['reports']) && Array.isArray(body['says']) && typeof body['node'] === 'object';
}

function isImpact(body: Body): body is Body & GraphImpact {
  return Array.isArray(body['services']) && typeof body['node'] === 'object';
}
