import type { Camera, Detail, Size } from '../../lib/graph/camera';
import { detailAt, toWorld } from '../../lib/graph/camera';
import { APART, edgeEmphasis, PLAIN, SELECTED, USED, USER } from '../../lib/graph/emphasis';
import type { Drawn, DrawnEdge, DrawnNode } from '../../lib/graph/groups';
import { CARD, LAYER_WIDTH, SLOT_HEIGHT, type Box, type Point } from '../../lib/graph/layout';
import type { Status } from '../../lib/status';
import { grouped } from '../../lib/time';
import type { Colours } from './colours';
import { glyph, GLYPH } from './glyph';
import { label, MOST_LABELS } from './label';
import type { Layer } from './layer';
import type { Names } from './names';
import type { Stamps } from './stamps';

/** All that one picture is made of. */
export interface Scene {
  readonly drawn: Drawn;
  readonly points: readonly Point[];
  readonly emphasis: Uint8Array;
  readonly camera: Camera;
  readonly size: Size;
  readonly colours: Colours;
  /** What lies below, and what is stamped: both are kept from picture to picture. */
  readonly layer: Layer;
  readonly stamps: Stamps;
  readonly names: Names;
  readonly hovered: number;
  /** The keyboard is on the drawing, so the selected node shows that. */
  readonly focused: boolean;
  readonly statusOf: (node: DrawnNode) => Status;
  /** What stands at the end of a card when there is room: latency, or an open breaker. */
  readonly noteOf: (node: DrawnNode) => Note | null;
  /** Whether a failing journey crosses it. */
  readonly isCrossed: (node: DrawnNode) => boolean;
  /** How far the pulse of a node has come, from 0 to 1. */
  readonly pulseOf: (id: string) => number | null;
}

export interface Note {
  readonly text: string;
  readonly isBad: boolean;
}

type Pen = CanvasRenderingContext2D;

const DIM = 0.22;
/** Where there are more edges than these, those that are well step back. */
const MANY_EDGES = 800;
const CROWD = 0.35;
/** The smallest dot that can be seen and pressed, on the screen. */
const LEAST_DOT = 2.5;
/** Between a name and what stands at the end of its card. */
const GAP = 8;
const TURN = 2 * Math.PI;

/** Draws everything that is in the window. */
export function paint(pen: Pen, scene: Scene, ratio: number): void {
  const { camera, size, colours, drawn, points, emphasis } = scene;
  const detail = detailAt(camera.scale);
  const window = windowOf(camera, size);
  const ground = { edges: drawn.edges, points, emphasis, camera, size, colours, ratio };
  const below = scene.layer.under(ground, (under) => {
    under.setTransform(ratio, 0, 0, ratio, 0, 0);
    under.fillStyle = colours.canvas;
    under.fillRect(0, 0, size.width, size.height);
    look(under, camera, size, ratio);
    edges(under, scene, detail, window, (edge) => calmLook(scene, edge));
  });
  pen.setTransform(1, 0, 0, 1, 0, 0);
  if (below !== null) pen.drawImage(below, 0, 0);
  look(pen, camera, size, ratio);
  edges(pen, scene, detail, window, (edge) => failingLook(scene, edge));
  marks(pen, scene, detail, window);
  nodes(pen, scene, detail, window, ratio);
}

/** Puts the picture under the camera. */
function look(pen: Pen, camera: Camera, size: Size, ratio: number): void {
  const scale = camera.scale * ratio;
  pen.setTransform(scale, 0, 0, scale, (size.width / 2) * ratio - camera.x * scale, (size.height / 2) * ratio - camera.y * scale);
}

/** Half of the width at which edges meet a node. */
export function reachOf(detail: Detail, scale: number): Point {
  if (detail !== 'dot') return { x: CARD.width / 2, y: CARD.height / 2 };
  const dot = dotSize(scale);
  return { x: dot, y: dot };
}

function dotSize(scale: number): number {
  return Math.max(GLYPH * 1.6, LEAST_DOT / scale);
}

function windowOf(camera: Camera, size: Size): Box {
  const start = toWorld(camera, { x: 0, y: 0 }, size);
  const end = toWorld(camera, { x: size.width, y: size.height }, size);
  const edge = CARD.width;
  return { left: start.x - edge, top: start.y - edge, right: end.x + edge, bottom: end.y + edge };
}

/** Whole, of what is not reported any more, or of what nobody knows. */
type Dash = 'whole' | 'dashed' | 'dotted';
const DASHES: Record<Dash, readonly number[]> = { whole: [], dashed: [6, 5], dotted: [1.5, 4] };

interface Look {
  readonly key: string;
  readonly colour: string;
  readonly width: number;
  readonly dash: Dash;
  readonly alpha: number;
  readonly order: number;
}

interface Stroke extends Look {
  readonly path: Path2D;
}

/** Edges of one look are one path: four thousand strokes one by one would be too slow. */
function edges(pen: Pen, scene: Scene, detail: Detail, window: Box, looks: (edge: DrawnEdge) => Look | null): void {
  const { drawn, points, camera } = scene;
  const half = reachOf(detail, camera.scale);
  const strokes = new Map<string, Stroke>();
  for (const edge of drawn.edges) {
    const look = looks(edge);
    if (look === null) continue;
    const [from, to] = [points[edge.from], points[edge.to]];
    if (from === undefined || to === undefined || isOutside(from, to, window)) continue;
    const known = strokes.get(look.key) ?? { ...look, path: new Path2D() };
    strokes.set(look.key, known);
    curve(known.path, from, to, half);
  }
  for (const stroke of [...strokes.values()].sort((one, other) => one.order - other.order)) {
    pen.globalAlpha = stroke.alpha;
    pen.strokeStyle = stroke.colour;
    pen.lineWidth = Math.max(stroke.width, (stroke.width * 0.6) / camera.scale);
    pen.setLineDash([...DASHES[stroke.dash]]);
    pen.stroke(stroke.path);
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

/** Where somebody says the opposite of what is. */
function marks(pen: Pen, scene: Scene, detail: Detail, window: Box): void {
  const { drawn, points, emphasis, camera, colours } = scene;
  if (detail === 'dot') return;
  const half = reachOf(detail, camera.scale);
  for (const edge of drawn.edges) {
    const [from, to] = [points[edge.from], points[edge.to]];
    if (!edge.contradicts || from === undefined || to === undefined || isOutside(from, to, window)) continue;
    if (howOf(emphasis, edge) !== APART) contradiction(pen, curve(new Path2D(), from, to, half), colours);
  }
}

function howOf(emphasis: Uint8Array, { from, to }: DrawnEdge): number {
  return edgeEmphasis(emphasis[from] ?? PLAIN, emphasis[to] ?? PLAIN);
}

/** The line that each edge has, however it is: thin, and that of a way to or from the selected node. */
function calmLook({ colours, drawn, camera, emphasis }: Scene, edge: DrawnEdge): Look {
  const how = howOf(emphasis, edge);
  const hue = how === USER ? colours.users : how === USED ? colours.uses : null;
  const crowded = drawn.edges.length > MANY_EDGES && detailAt(camera.scale) === 'dot';
  const alpha = how === APART ? DIM : crowded && hue === null ? CROWD : 1;
  return lookOf(hue ?? colours.edge, hue === null ? 1 : 1.6, dashOf(edge), alpha);
}

/** The thick line on top of one that fails; null for one that does not. */
function failingLook({ colours, emphasis }: Scene, edge: DrawnEdge): Look | null {
  if (!isFailing(edge)) return null;
  const alpha = howOf(emphasis, edge) === APART ? DIM : 1;
  return lookOf(colours.line[edge.status], edge.status === 'down' ? 3.2 : 2.4, dashOf(edge), alpha);
}

function isFailing({ status }: DrawnEdge): boolean {
  return status === 'down' || status === 'degraded';
}

/** Who can't be polled knows nothing of what it leans on, however that is. */
function dashOf({ missing, status }: DrawnEdge): Dash {
  if (missing) return 'dashed';
  return status === 'unknown' ? 'dotted' : 'whole';
}

function lookOf(colour: string, width: number, dash: Dash, alpha: number): Look {
  return { key: `${colour} ${String(width)} ${dash} ${String(alpha)}`, colour, width, dash, alpha, order: alpha * 10 + width };
}

function isOutside(from: Point, to: Point, { left, top, right, bottom }: Box): boolean {
  return (
    (from.x < left && to.x < left) ||
    (from.x > right && to.x > right) ||
    (from.y < top && to.y < top) ||
    (from.y > bottom && to.y > bottom)
  );
}

/**
 * From the right side of who leans to the left side of what it leans on. Gives a point of it that lies
 * behind no node.
 */
function curve(path: Path2D, from: Point, to: Point, half: Point): Point {
  if (to.x < from.x) return back(path, from, to, half);
  const [x1, x2] = [from.x + half.x, to.x - half.x];
  path.moveTo(x1, from.y);
  const middle = { x: (x1 + x2) / 2, y: (from.y + to.y) / 2 };
  if (to.x === from.x) {
    // Beside each other in a layer: on the right of both.
    path.bezierCurveTo(x1 + 48, from.y, x1 + 48, to.y, x1, to.y);
    return { x: x1 + 36, y: middle.y };
  }
  if (to.x - from.x <= LAYER_WIDTH * 1.5) {
    bend(path, x1, from.y, x2, to.y);
    return middle;
  }
  return throughLane(path, { x: x1, y: from.y }, { x: x2, y: to.y }, from.x, to.x);
}

/**
 * In a circle an edge leads back to a layer on the left: between the sides that face each other, below the
 * edge the other way, with a head that tells where it leads.
 */
function back(path: Path2D, from: Point, to: Point, half: Point): Point {
  const below = half.y * 0.6;
  // Where the cards of a folded team end.
  const end = { x: to.x + half.x + STACK + 1, y: to.y + below };
  const middle = curve(path, { x: to.x, y: end.y }, { x: from.x, y: from.y + below }, half);
  path.moveTo(end.x + HEAD.x, end.y - HEAD.y);
  path.lineTo(end.x, end.y);
  path.lineTo(end.x + HEAD.x, end.y + HEAD.y);
  return middle;
}

const HEAD = { x: 7, y: 4 } as const;
/** How far the cards of a folded team stand out. */
const STACK = 6;

/** Over several layers it passes between the rows, so that it does not run behind other nodes. */
function throughLane(path: Path2D, start: Point, end: Point, from: number, to: number): Point {
  const row = SLOT_HEIGHT * 2;
  const middle = (start.y + end.y) / 2;
  // A little apart from others in the same lane, by where it comes from and goes to.
  const [rows, columns] = [
    Math.round(start.y / SLOT_HEIGHT) * 7 + Math.round(end.y / SLOT_HEIGHT) * 3,
    Math.round(start.x / LAYER_WIDTH) * 11 + Math.round(end.x / LAYER_WIDTH),
  ];
  const apart = ((Math.abs(rows + columns) % 5) - 2) * 3;
  const lane = (Math.floor(middle / row) + 0.5) * row + apart;
  const [first, last] = [from + LAYER_WIDTH - CARD.width / 2, to - LAYER_WIDTH + CARD.width / 2];
  bend(path, start.x, start.y, first, lane);
  path.lineTo(last, lane);
  bend(path, last, lane, end.x, end.y);
  return { x: (last + end.x) / 2, y: (lane + end.y) / 2 };
}

function bend(path: Path2D, x1: number, y1: number, x2: number, y2: number): void {
  const by = Math.max((x2 - x1) / 2, 24);
  path.bezierCurveTo(x1 + by, y1, x2 - by, y2, x2, y2);
}

function contradiction(pen: Pen, { x, y }: Point, colours: Colours): void {
  pen.fillStyle = colours.canvas;
  pen.strokeStyle = colours.words.degraded;
  pen.lineWidth = 1.2;
  pen.beginPath();
  pen.arc(x, y, 7, 0, TURN);
  pen.fill();
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x - 3.5, y - 1.6);
  pen.lineTo(x + 3.5, y - 1.6);
  pen.moveTo(x - 3.5, y + 1.6);
  pen.lineTo(x + 3.5, y + 1.6);
  pen.moveTo(x + 2, y - 4);
  pen.lineTo(x - 2, y + 4);
  pen.stroke();
}

function nodes(pen: Pen, scene: Scene, detail: Detail, window: Box, ratio: number): void {
  const { drawn, points, emphasis } = scene;
  if (detail === 'dot') dots(pen, scene, window, ratio);
  pen.textBaseline = 'middle';
  drawn.nodes.forEach((node, place) => {
    const point = points[place];
    if (point === undefined || isOutside(point, point, window)) return;
    const how = emphasis[place] ?? PLAIN;
    pen.globalAlpha = how === APART ? DIM + 0.08 : 1;
    if (detail === 'dot') rings(pen, scene, node, point, how);
    else card(pen, scene, node, point, how, detail);
    if (scene.isCrossed(node)) crossing(pen, scene, node, point, detail);
    pulse(pen, scene, node, point, detail);
  });
  pen.globalAlpha = 1;
  if (detail === 'dot') labels(pen, scene, window);
}

/** Whatever the zoom, the causes and the selected node have their names. */
function labels(pen: Pen, scene: Scene, window: Box): void {
  const { drawn, points, emphasis, camera } = scene;
  let left = MOST_LABELS;
  drawn.nodes.forEach((node, place) => {
    const point = points[place];
    const isSelected = emphasis[place] === SELECTED;
    if (point === undefined || (!node.isRoot && !isSelected) || isOutside(point, point, window)) return;
    left -= 1;
    if (left >= 0 || isSelected) label(pen, node, point, dotOf(node, camera) * (node.isRoot ? 2.7 : 1.6), scene);
  });
}

/** The glyphs of all nodes, in points of the canvas. */
function dots(pen: Pen, scene: Scene, window: Box, ratio: number): void {
  const { drawn, points, emphasis, camera, size, colours, stamps } = scene;
  const scale = camera.scale * ratio;
  const [left, top] = [(size.width / 2) * ratio - camera.x * scale, (size.height / 2) * ratio - camera.y * scale];
  pen.setTransform(1, 0, 0, 1, 0, 0);
  drawn.nodes.forEach((node, place) => {
    const point = points[place];
    if (point === undefined || isOutside(point, point, window)) return;
    pen.globalAlpha = emphasis[place] === APART ? DIM + 0.08 : 1;
    stamps.put(pen, scene.statusOf(node), left + point.x * scale, top + point.y * scale, dotOf(node, camera) * scale, colours);
  });
  look(pen, camera, size, ratio);
}

function dotOf({ kind }: DrawnNode, camera: Camera): number {
  return dotSize(camera.scale) * (kind === 'team' ? 1.8 : 1);
}

function rings(pen: Pen, scene: Scene, node: DrawnNode, { x, y }: Point, how: number): void {
  const { colours, camera } = scene;
  const hue = hueOf(how, colours);
  if (!node.isRoot && hue === null) return;
  const size = dotOf(node, camera);
  const wide = Math.max(1.5 / camera.scale, 1);
  if (node.isRoot) {
    for (const ring of [1.9, 2.7]) ringAt(pen, x, y, size * ring, colours.line[scene.statusOf(node)], wide);
  }
  if (hue !== null) ringAt(pen, x, y, size * 1.6, hue, wide * (how === SELECTED ? 2 : 1));
}

function ringAt(pen: Pen, x: number, y: number, size: number, colour: string, width: number): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(x, y, size, 0, TURN);
  pen.stroke();
}

function hueOf(how: number, { users, uses, accent }: Colours): string | null {
  return how === USER ? users : how === USED ? uses : how === SELECTED ? accent : null;
}

function card(pen: Pen, scene: Scene, node: DrawnNode, { x, y }: Point, how: number, detail: Detail): void {
  const { colours, names, hovered, drawn } = scene;
  const status = scene.statusOf(node);
  const [left, top] = [x - CARD.width / 2, y - CARD.height / 2];
  const isSelected = how === SELECTED;
  if (node.isRoot) {
    outline(pen, left - 4, top - 4, CARD.width + 8, CARD.height + 8, 9, colours.line[status], 1.6);
  }
  if (isSelected && scene.focused) {
    outline(pen, left - 7, top - 7, CARD.width + 14, CARD.height + 14, 12, colours.accent, 2);
  }
  if (node.kind === 'team') stack(pen, left, top, colours);
  box(pen, left, top, CARD.width, CARD.height, node.kind === 'external' ? CARD.height / 2 : 6);
  pen.fillStyle = colours.card;
  pen.fill();
  const plain = drawn.nodes[hovered] === node ? colours.muted : colours.border;
  const border = hueOf(how, colours) ?? (node.isRoot ? colours.line[status] : plain);
  pen.strokeStyle = border;
  pen.lineWidth = isSelected ? 2 : border === colours.border ? 1 : 1.6;
  pen.stroke();
  glyph(pen, status, left + 14, y, GLYPH, colours);
  words(pen, scene, node, left, y, detail, names);
}

function words(pen: Pen, scene: Scene, node: DrawnNode, left: number, y: number, detail: Detail, names: Names): void {
  const { colours } = scene;
  const note = node.kind === 'team' ? { text: grouped(node.count), isBad: false } : detail === 'full' ? scene.noteOf(node) : null;
  let room = CARD.width - 36;
  if (note !== null) {
    pen.font = `400 10.5px ${colours.font}`;
    const wide = pen.measureText(note.text).width;
    pen.fillStyle = note.isBad ? colours.words.down : colours.muted;
    pen.textAlign = 'right';
    pen.fillText(note.text, left + CARD.width - 10, y + 0.5);
    // In steps, so that a name is not measured anew for each latency.
    room -= Math.ceil((wide + GAP) / 12) * 12;
  }
  pen.font = `${node.isRoot ? '600' : '400'} 12px ${colours.font}`;
  pen.textAlign = 'left';
  pen.fillStyle = colours.text;
  pen.fillText(names.fitted(pen, node.name, room), left + 26, y + 0.5);
}

/** At its right shoulder: a path that ends. */
function crossing(pen: Pen, { camera, colours }: Scene, node: DrawnNode, { x, y }: Point, detail: Detail): void {
  const isDot = detail === 'dot';
  const dot = dotOf(node, camera);
  const size = isDot ? Math.max(dot * 0.9, LEAST_SIGN / camera.scale) : SIGN;
  const middle = isDot ? { x: x + dot * 1.2, y: y - dot * 1.2 } : { x: x + CARD.width / 2 - 4, y: y - CARD.height / 2 };
  pen.fillStyle = colours.canvas;
  pen.beginPath();
  pen.arc(middle.x, middle.y, size, 0, TURN);
  pen.fill();
  ringAt(pen, middle.x, middle.y, size, colours.line.down, size / 5);
  pen.beginPath();
  SIGN_PATH.forEach(([right, down], at) => {
    pen[at === 0 ? 'moveTo' : 'lineTo'](middle.x + right * size, middle.y + down * size);
  });
  pen.stroke();
}

/** Half of the sign of a failing journey, and the least of it on the screen. */
const SIGN = 7;
const LEAST_SIGN = 3.5;
const SIGN_PATH = [[-0.55, 0.3], [-0.1, 0.3], [0.1, -0.3], [0.55, -0.3]] as const;

function stack(pen: Pen, left: number, top: number, colours: Colours): void {
  for (const step of [STACK, STACK / 2]) {
    box(pen, left + step, top + step, CARD.width, CARD.height, 6);
    pen.fillStyle = colours.card;
    pen.fill();
    pen.strokeStyle = colours.border;
    pen.lineWidth = 1;
    pen.stroke();
  }
}

function box(pen: Pen, left: number, top: number, width: number, height: number, radius: number): void {
  pen.beginPath();
  pen.roundRect(left, top, width, height, radius);
}

function outline(pen: Pen, left: number, top: number, width: number, height: number, radius: number, colour: string, line: number): void {
  box(pen, left, top, width, height, radius);
  pen.strokeStyle = colour;
  pen.lineWidth = line;
  pen.stroke();
}

/** One ring that grows and fades when a status changed. */
function pulse(pen: Pen, scene: Scene, node: DrawnNode, { x, y }: Point, detail: Detail): void {
  const part = scene.pulseOf(node.id);
  if (part === null) return;
  const middle = detail === 'dot' ? x : x - CARD.width / 2 + 14;
  pen.globalAlpha = 1 - part;
  const size = (detail === 'dot' ? dotSize(scene.camera.scale) : GLYPH) * (1 + part * 3);
  ringAt(pen, middle, y, size, scene.colours.line[scene.statusOf(node)], 2);
}
