import type { DrawnNode } from './groups';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** From one layer to the next, and from one slot to the next. */
export const LAYER_WIDTH = 236;
export const SLOT_HEIGHT = 30;
/** A node with its name. */
export const CARD = { width: 168, height: 26 } as const;

/** A taller layer would be a line that nobody can read: it is broken into several columns. */
const TALLEST = 48;
/** As wide as most windows are, compared with their height. */
const SHAPE = 1.6;

/**
 * Layers from left to right, slots from top to bottom. The whole graph stands as the server draws
 * it; a part of it moves together, because most of the places between are empty.
 */
export function layout(nodes: readonly DrawnNode[], isWhole: boolean): Point[] {
  const layers = layersOf(nodes);
  if (isWhole && layers.every((layer) => layer.length <= TALLEST)) {
    return nodes.map(({ slot, layer }) => ({ x: layer * LAYER_WIDTH, y: slot * SLOT_HEIGHT }));
  }
  const rows = rowsFor(nodes.length, layers);
  const found: Point[] = nodes.map(() => ({ x: 0, y: 0 }));
  let column = 0;
  for (const layer of layers) {
    for (let start = 0; start < layer.length; start += rows) {
      const part = layer.slice(start, start + rows);
      part.forEach((place, row) => {
        found[place] = { x: column * LAYER_WIDTH, y: (row - ((part.length - 1) >> 1)) * ROW_HEIGHT };
      });
      column += 1;
    }
  }
  return found;
}

/** As far apart as the server has them, and as edges that pass between the rows expect. */
const ROW_HEIGHT = SLOT_HEIGHT * 2;

/** The places of the nodes of each layer, from left to right, each from top to bottom. */
function layersOf(nodes: readonly DrawnNode[]): number[][] {
  const layers = new Map<number, number[]>();
  nodes.forEach(({ layer }, place) => {
    const known = layers.get(layer);
    if (known === undefined) layers.set(layer, [place]);
    else known.push(place);
  });
  const slot = (place: number) => nodes[place]?.slot ?? 0;
  return [...layers.keys()]
    .sort((one, other) => one - other)
    .map((layer) => (layers.get(layer) ?? []).sort((one, other) => slot(one) - slot(other) || one - other));
}

/** How many stand in a column: in steps, so that one node more does not move all others. */
function rowsFor(count: number, layers: readonly number[][]): number {
  if (layers.every((layer) => layer.length <= TALLEST)) return TALLEST;
  const rows = Math.sqrt((count * LAYER_WIDTH) / (ROW_HEIGHT * SHAPE));
  return Math.max(TALLEST / 2, Math.ceil(rows / 8) * 8);
}

/** What all of them take, cards included; null when there is none. */
export function bounds(points: readonly Point[]): Box | null {
  if (points.length === 0) return null;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  }
  const [half, tall] = [CARD.width / 2, CARD.height / 2];
  return { left: left - half, top: top - tall, right: right + half, bottom: bottom + tall };
}

/** The node under a point, the last drawn first; -1 when there is none. */
export function hit(points: readonly Point[], at: Point, half: Point): number {
  for (let place = points.length - 1; place >= 0; place -= 1) {
    const point = points[place];
    if (point && Math.abs(point.x - at.x) <= half.x && Math.abs(point.y - at.y) <= half.y) return place;
  }
  return -1;
}
