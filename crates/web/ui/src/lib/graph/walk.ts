import type { Point } from './layout';
import type { Lists } from './lists';

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

export function isArrow(key: string): key is Arrow {
  return ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].includes(key);
}

/**
 * The node that an arrow leads to: right to what it leans on, left to who leans on it (the nearest
 * in height), up and down to the neighbours in its layer. Where there is none, it stays. It begins at
 * `start`, or else at the top of the first layer.
 */
export function walk(
  from: number | null,
  arrow: Arrow,
  points: readonly Point[],
  lists: Lists,
  prefers: (place: number) => boolean,
  start: number | null = null,
): number | null {
  const here = points[from ?? -1];
  if (from === null || here === undefined) return start ?? first(points);
  if (arrow === 'ArrowRight') return nearest(lists.uses[from] ?? [], here, points, prefers) ?? from;
  if (arrow === 'ArrowLeft') return nearest(lists.users[from] ?? [], here, points, prefers) ?? from;
  return neighbour(from, here, points, arrow === 'ArrowUp' ? -1 : 1) ?? from;
}

/** What fails first, then the nearest in height: the way to a root cause is straight on. */
function nearest(
  places: readonly number[],
  here: Point,
  points: readonly Point[],
  prefers: (place: number) => boolean,
): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const place of places) {
    const away = Math.abs((points[place]?.y ?? Infinity) - here.y) + (prefers(place) ? 0 : 1e6);
    if (away < least) [best, least] = [place, away];
  }
  return best;
}

function neighbour(from: number, here: Point, points: readonly Point[], way: 1 | -1): number | null {
  let best: number | null = null;
  let least = Infinity;
  points.forEach((point, place) => {
    const away = (point.y - here.y) * way;
    if (place === from || Math.abs(point.x - here.x) > 1 || away <= 0 || away >= least) return;
    [best, least] = [place, away];
  });
  return best;
}

/** The top of the first layer. */
function first(points: readonly Point[]): number | null {
  let best: number | null = null;
  points.forEach((point, place) => {
    const known = best === null ? undefined : points[best];
    if (known === undefined || point.x < known.x || (point.x === known.x && point.y < known.y)) best = place;
  });
  return best;
}
