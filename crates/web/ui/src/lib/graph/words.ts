import type { GraphNode, GraphView } from '../api/graph';
import { isolated } from '../isolate';
import { hurtsText } from '../now';
import { grouped, sinceTime } from '../time';
import type { DrawnNode } from './groups';

/** "Ledger, down since 03:12:40, root cause, hurts 7 services", for those who listen. */
export function nodeText(view: GraphView, node: GraphNode, now: number, zone?: string): string {
  const since = node.since === null ? '' : ` since ${sinceTime(Date.parse(node.since), now, zone)}`;
  const kind = node.kind === 'external' ? ['external'] : [];
  return [isolated(node.name), ...kind, `${node.status}${since}`, ...whyText(view, node)].join(', ');
}

/** The same of anything that is drawn. */
export function drawnText(view: GraphView, drawn: DrawnNode, now: number, zone?: string): string {
  const node = view.nodes[drawn.place];
  if (node !== undefined) return nodeText(view, node, now, zone);
  const root = drawn.isRoot ? ', holds a root cause' : '';
  return `Team ${isolated(drawn.name)}, folded, ${services(drawn.count)}, the worst in it is ${drawn.status}${root}`;
}

/** The root cause that a node is, alone or with others. */
export function ownCause(view: GraphView, node: GraphNode): GraphView['root_causes'][number] | null {
  const causes = node.root_causes.flatMap((place) => view.root_causes[place] ?? []);
  return causes.find(({ nodes }) => nodes.some(({ id }) => id === node.id)) ?? null;
}

/** "Ledger and Audit lean on each other", of the first circle, and how many more there are. */
export function circleText(cycles: GraphView['cycles']): string {
  const [first, ...others] = cycles;
  if (first === undefined) return '';
  const names = first.nodes.map(({ name }) => isolated(name)).slice(0, MOST_NAMED);
  const more = first.node_count - names.length;
  const last = more > 0 ? `${grouped(more)} more` : (names.pop() ?? '');
  const circles = others.length === 1 ? ', and so does 1 circle more' : `, and so do ${grouped(others.length)} circles more`;
  return `${names.join(', ')} and ${last} lean on each other${others.length === 0 ? '' : circles}.`;
}

const MOST_NAMED = 4;

function services(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'service' : 'services'}`;
}

/** What the root causes of a node are called, each by the first of its nodes. */
export function causeNames(view: GraphView, node: GraphNode): string[] {
  return node.root_causes.flatMap((place) => {
    const first = view.root_causes[place]?.nodes[0];
    return first === undefined ? [] : [isolated(first.name)];
  });
}

function whyText(view: GraphView, node: GraphNode): string[] {
  const own = ownCause(view, node);
  if (own !== null) {
    const circle = own.node_count > 1 ? `root cause together with ${grouped(own.node_count - 1)} more` : 'root cause';
    const hurts = hurtsText(own);
    return own.contradicted ? [circle, hurts, 'contradicted'] : [circle, hurts];
  }
  const names = causeNames(view, node);
  if (names.length === 0) return [];
  const more = node.root_cause_count > names.length ? ` and ${grouped(node.root_cause_count - names.length)} more` : '';
  return [`because of ${names.join(', ')}${more}`];
}
