import type { Status } from '../../lib/status';
import type { Colours } from './colours';
import { glyph } from './glyph';

/** Glyphs of one size, each drawn once and then stamped: thousands of them are drawn in a frame. */
export class Stamps {
  readonly #made = new Map<string, HTMLCanvasElement>();
  #colours: Colours | null = null;

  /** Stamps a glyph with its middle at a place, both in points of the canvas. */
  put(pen: CanvasRenderingContext2D, status: Status, x: number, y: number, size: number, colours: Colours): void {
    if (colours !== this.#colours || this.#made.size > MOST) this.#made.clear();
    this.#colours = colours;
    const key = `${status} ${String(size)}`;
    const stamp = this.#made.get(key) ?? made(status, size, colours);
    this.#made.set(key, stamp);
    // On whole points, else each would be blurred anew.
    pen.drawImage(stamp, Math.round(x - stamp.width / 2), Math.round(y - stamp.height / 2));
  }
}

/** Some sizes of each status; a zoom leaves others behind. */
const MOST = 64;
/** What a glyph's edges take beside its size. */
const MARGIN = 1.5;

function made(status: Status, size: number, colours: Colours): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const half = Math.ceil(size * MARGIN) + 1;
  canvas.width = canvas.height = 2 * half;
  const pen = canvas.getContext('2d');
  if (pen !== null) glyph(pen, status, half, half, size, colours);
  return canvas;
}
