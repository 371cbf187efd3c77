import type { DrawnNode } from '../../lib/graph/groups';
import type { Point } from '../../lib/graph/layout';
import type { Status } from '../../lib/status';

/** How long a node is on its way to a new place. */
export const GLIDE_MS = 220;
const PULSE_MS = 600;

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Begins fast and ends softly, as things do that are pushed. */
export function eased(part: number): number {
  return 1 - (1 - Math.min(Math.max(part, 0), 1)) ** 3;
}

/** Nodes go to their new places instead of jumping there. */
export class Glide {
  #from = new Map<string, Point>();
  #ids: readonly string[] = [];
  #to: readonly Point[] = [];
  #began = -Infinity;

  set(nodes: readonly DrawnNode[], to: readonly Point[], now: number): void {
    if (to === this.#to) return;
    const here = this.at(now);
    const known = new Map(this.#ids.map((id, place) => [id, here[place]]));
    const moved = nodes.some(({ id }, place) => {
      const [old, next] = [known.get(id), to[place]];
      return old !== undefined && next !== undefined && (old.x !== next.x || old.y !== next.y);
    });
    this.#from = new Map([...known].filter((entry): entry is [string, Point] => entry[1] !== undefined));
    this.#ids = nodes.map(({ id }) => id);
    this.#to = to;
    this.#began = moved && !still() ? now : -Infinity;
  }

  isMoving(now: number): boolean {
    return now - this.#began < GLIDE_MS;
  }

  at(now: number): readonly Point[] {
    if (!this.isMoving(now)) return this.#to;
    const part = eased((now - this.#began) / GLIDE_MS);
    return this.#to.map((to, place) => {
      const from = this.#from.get(this.#ids[place] ?? '') ?? to;
      return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    });
  }
}

/** One pulse for each status that changed. */
export class Pulses {
  #known: ReadonlyMap<string, Status> | null = null;
  readonly #began = new Map<string, number>();

  /** What changed since the last time; nothing pulses that is seen first. */
  see(nodes: readonly DrawnNode[], now: number): void {
    const next = new Map(nodes.map(({ id, status }) => [id, status]));
    for (const [id, status] of next) {
      const old = this.#known?.get(id);
      if (old !== undefined && old !== status && !still()) this.#began.set(id, now);
    }
    this.#known = next;
  }

  /** What is shown next is another time: that is no change. */
  forget(): void {
    this.#known = null;
    this.#began.clear();
  }

  isBusy(now: number): boolean {
    for (const [id, began] of this.#began) if (now - began >= PULSE_MS) this.#began.delete(id);
    return this.#began.size > 0;
  }

  at(id: string, now: number): number | null {
    const began = this.#began.get(id);
    return began === undefined || now - began >= PULSE_MS ? null : (now - began) / PULSE_MS;
  }
}
