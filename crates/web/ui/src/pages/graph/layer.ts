import type { Camera, Size } from '../../lib/graph/camera';
import type { DrawnEdge } from '../../lib/graph/groups';
import type { Point } from '../../lib/graph/layout';
import type { Colours } from './colours';

/** All that the edges below depend on, however the nodes are. */
export interface Ground {
  readonly edges: readonly DrawnEdge[];
  readonly points: readonly Point[];
  readonly emphasis: Uint8Array;
  readonly camera: Camera;
  readonly size: Size;
  readonly colours: Colours;
  readonly ratio: number;
}

/**
 * The ground and the edges that tell nothing, painted once and laid below every picture until something of
 * it moves. What fails is painted on top, and is thicker: so a status alone moves nothing here.
 */
export class Layer {
  readonly #canvas = document.createElement('canvas');
  #ground: Ground | null = null;

  /** What lies below; `paint` is called when that is another than the last time. */
  under(ground: Ground, paint: (pen: CanvasRenderingContext2D) => void): CanvasImageSource | null {
    const canvas = this.#canvas;
    if (this.#ground !== null && isSame(this.#ground, ground)) return canvas;
    const pen = canvas.getContext('2d', { alpha: false });
    if (pen === null) return null;
    const [wide, tall] = [Math.round(ground.size.width * ground.ratio), Math.round(ground.size.height * ground.ratio)];
    if (canvas.width !== wide || canvas.height !== tall) [canvas.width, canvas.height] = [wide, tall];
    paint(pen);
    this.#ground = ground;
    return canvas;
  }
}

/** Whether one ground looks like the other: the same objects, or else the same in them. */
export function isSame(one: Ground, other: Ground): boolean {
  const [a, b] = [one.camera, other.camera];
  return (
    a.x === b.x &&
    a.y === b.y &&
    a.scale === b.scale &&
    one.size.width === other.size.width &&
    one.size.height === other.size.height &&
    one.ratio === other.ratio &&
    one.colours === other.colours &&
    (one.points === other.points || areEqual(one.points, other.points, (p, q) => p.x === q.x && p.y === q.y)) &&
    (one.emphasis === other.emphasis || areEqual(one.emphasis, other.emphasis, (p, q) => p === q)) &&
    (one.edges === other.edges || areEqual(one.edges, other.edges, isSameEdge))
  );
}

function isSameEdge(one: DrawnEdge, other: DrawnEdge): boolean {
  const isSameKnown = (one.status === 'unknown') === (other.status === 'unknown');
  return one.from === other.from && one.to === other.to && one.missing === other.missing && isSameKnown;
}

export function areEqual<Item>(
  some: ArrayLike<Item>,
  others: ArrayLike<Item>,
  isEqual: (one: Item, other: Item) => boolean,
): boolean {
  if (some.length !== others.length) return false;
  for (let place = 0; place < some.length; place += 1) {
    if (!isEqual(some[place] as Item, others[place] as Item)) return false;
  }
  return true;
}
