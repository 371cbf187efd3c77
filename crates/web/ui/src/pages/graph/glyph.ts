import type { Status } from '../../lib/status';
import type { Colours } from './colours';

/** Half of what a glyph takes, in the drawing at its own size. */
export const GLYPH = 5;

type Pen = CanvasRenderingContext2D;

/** The same shapes as in every list, for whoever sees no colours. */
export function glyph(pen: Pen, status: Status, x: number, y: number, size: number, colours: Colours): void {
  pen.fillStyle = colours.fill[status];
  pen.strokeStyle = colours.line[status];
  pen.lineWidth = Math.max(size / 5, 0.8);
  pen.beginPath();
  SHAPES[status](pen, x, y, size);
  if (status === 'unknown') {
    dashed(pen, size);
    return;
  }
  pen.fill();
  pen.stroke();
  if (status === 'down') cross(pen, x, y, size * 0.45, colours);
}

const SHAPES: Record<Status, (pen: Pen, x: number, y: number, size: number) => void> = {
  healthy: circle,
  unknown: circle,
  degraded: (pen, x, y, size) => {
    pen.moveTo(x, y - size * 1.05);
    pen.lineTo(x + size * 1.15, y + size * 0.9);
    pen.lineTo(x - size * 1.15, y + size * 0.9);
    pen.closePath();
  },
  down: (pen, x, y, size) => {
    pen.rect(x - size, y - size, 2 * size, 2 * size);
  },
  skipped: (pen, x, y, size) => {
    pen.rect(x - size, y - size / 4, 2 * size, size / 2);
  },
};

function circle(pen: Pen, x: number, y: number, size: number): void {
  pen.moveTo(x + size, y);
  pen.arc(x, y, size, 0, 2 * Math.PI);
}

function dashed(pen: Pen, size: number): void {
  pen.setLineDash([size / 2, size / 2]);
  pen.lineWidth = Math.max(size / 3, 1);
  pen.stroke();
  pen.setLineDash([]);
}

function cross(pen: Pen, x: number, y: number, size: number, { canvas }: Colours): void {
  pen.strokeStyle = canvas;
  pen.beginPath();
  pen.moveTo(x - size, y - size);
  pen.lineTo(x + size, y + size);
  pen.moveTo(x + size, y - size);
  pen.lineTo(x - size, y + size);
  pen.stroke();
}
