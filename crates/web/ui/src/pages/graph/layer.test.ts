import { expect, it } from 'vitest';
import type { DrawnEdge } from '../../lib/graph/groups';
import type { Colours } from './colours';
import { isSame, type Ground } from './layer';

const edge = (more: Partial<DrawnEdge> = {}): DrawnEdge => ({
  from: 0, to: 1, status: 'healthy', missing: false, contradicts: false, ...more,
});
const colours = { canvas: 'white' } as Colours;
const ground = (more: Partial<Ground> = {}): Ground => ({
  edges: [edge()],
  points: [{ x: 0, y: 0 }, { x: 9, y: 9 }],
  emphasis: Uint8Array.of(4, 4),
  camera: { x: 0, y: 0, scale: 1 },
  size: { width: 10, height: 10 },
  colours,
  ratio: 1,
  ...more,
});

it.each<[string, Partial<Ground>, boolean]>([
  ['nothing', {}, true],
  ['a status', { edges: [edge({ status: 'down', contradicts: true })] }, true],
  ['that nobody knows', { edges: [edge({ status: 'unknown' })] }, false],
  ['who leans on what', { edges: [edge({ to: 0 })] }, false],
  ['what is missing', { edges: [edge({ missing: true })] }, false],
  ['one edge more', { edges: [edge(), edge()] }, false],
  ['a place', { points: [{ x: 0, y: 0 }, { x: 9, y: 8 }] }, false],
  ['what is selected', { emphasis: Uint8Array.of(1, 3) }, false],
  ['the camera', { camera: { x: 0, y: 0, scale: 2 } }, false],
  ['the room', { size: { width: 11, height: 10 } }, false],
  ['the theme', { colours: { ...colours } }, false],
  ['the screen', { ratio: 2 }, false],
])('is painted anew when it has to be: %s', (_, more, same) => {
  expect(isSame(ground(), ground(more))).toBe(same);
});
