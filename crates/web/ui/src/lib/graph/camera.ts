import type { Box, Point } from './layout';

/** What of the drawing is seen: the point in the middle of the window, and how large it is drawn. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What is shown of a node: the closer, the more. */
export type Detail = 'dot' | 'name' | 'full';

export const LEAST_SCALE = 0.02;
export const MOST_SCALE = 3;
/** A small graph is not blown up. */
const MOST_FIT = 1.2;
const MARGIN = 28;
/** One press of + or −. */
export const ZOOM_STEP = 1.3;

const NAME_SCALE = 0.5;
const FULL_SCALE = 0.95;

export function detailAt(scale: number): Detail {
  if (scale < NAME_SCALE) return 'dot';
  return scale < FULL_SCALE ? 'name' : 'full';
}

/** All of it, in the middle. */
export function fit(box: Box | null, { width, height }: Size): Camera {
  if (box === null) return { x: 0, y: 0, scale: 1 };
  const wide = (width - 2 * MARGIN) / Math.max(box.right - box.left, 1);
  const tall = (height - 2 * MARGIN) / Math.max(box.bottom - box.top, 1);
  return {
    x: (box.left + box.right) / 2,
    y: (box.top + box.bottom) / 2,
    scale: clamp(Math.min(wide, tall, MOST_FIT)),
  };
}

/** Larger or smaller, so that what is under the point stays under it. */
export function zoom(camera: Camera, factor: number, at: Point, size: Size): Camera {
  const scale = clamp(camera.scale * factor);
  const under = toWorld(camera, at, size);
  return {
    x: under.x - (at.x - size.width / 2) / scale,
    y: under.y - (at.y - size.height / 2) / scale,
    scale,
  };
}

export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.scale, y: camera.y - dy / camera.scale };
}

export function toWorld({ x, y, scale }: Camera, at: Point, { width, height }: Size): Point {
  return { x: x + (at.x - width / 2) / scale, y: y + (at.y - height / 2) / scale };
}

export function toScreen({ x, y, scale }: Camera, at: Point, { width, height }: Size): Point {
  return { x: (at.x - x) * scale + width / 2, y: (at.y - y) * scale + height / 2 };
}

/** The camera moved as little as is needed to see the point well. */
export function reveal(camera: Camera, at: Point, size: Size, edge = 96): Camera {
  const seen = toScreen(camera, at, size);
  const over = (value: number, length: number) => {
    const room = Math.min(edge, length / 3);
    return value < room ? room - value : value > length - room ? length - room - value : 0;
  };
  return pan(camera, over(seen.x, size.width), over(seen.y, size.height));
}

/** The point in the middle, close enough to read its name. */
export function centre(camera: Camera, at: Point): Camera {
  return { x: at.x, y: at.y, scale: Math.max(camera.scale, NAME_SCALE * 1.4) };
}

/** Between two cameras; a part of 1 is the second. */
export function between(one: Camera, other: Camera, part: number): Camera {
  const mix = (a: number, b: number) => a + (b - a) * part;
  return { x: mix(one.x, other.x), y: mix(one.y, other.y), scale: one.scale * (other.scale / one.scale) ** part };
}

function clamp(scale: number): number {
  return Math.min(Math.max(scale, LEAST_SCALE), MOST_SCALE);
}
