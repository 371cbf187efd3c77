import type { Camera } from '../../lib/graph/camera';
import type { DrawnNode } from '../../lib/graph/groups';
import type { Point } from '../../lib/graph/layout';
import type { Colours } from './colours';
import type { Names } from './names';

/** More names than these on top of dots would hide each other. */
export const MOST_LABELS = 12;
const ROOM = 160;
const GAP = 6;

/** The name of a node that is too small for a card, in letters of the usual size, beside its dot. */
export function label(
  pen: CanvasRenderingContext2D,
  { name }: DrawnNode,
  { x, y }: Point,
  dot: number,
  { colours, camera, names }: { colours: Colours; camera: Camera; names: Names },
): void {
  pen.save();
  pen.translate(x, y);
  pen.scale(1 / camera.scale, 1 / camera.scale);
  pen.font = `600 12px ${colours.font}`;
  pen.textBaseline = 'middle';
  const text = names.fitted(pen, name, ROOM);
  const beside = dot * camera.scale + GAP;
  // On the left where it would leave the picture.
  const right = pen.getTransform().e / pen.getTransform().a + beside + pen.measureText(text).width;
  const isCut = right > pen.canvas.width / pen.getTransform().a;
  pen.textAlign = isCut ? 'right' : 'left';
  pen.lineJoin = 'round';
  pen.lineWidth = 4;
  pen.strokeStyle = colours.canvas;
  pen.strokeText(text, isCut ? -beside : beside, 0);
  pen.fillStyle = colours.text;
  pen.fillText(text, isCut ? -beside : beside, 0);
  pen.restore();
}
