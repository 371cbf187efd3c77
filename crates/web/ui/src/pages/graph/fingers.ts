import type { Point } from '../../lib/graph/layout';

export interface Gestures {
  drag: (dx: number, dy: number) => void;
  /** Larger or smaller around a point. */
  pinch: (factor: number, at: Point) => void;
  press: (at: Point, twice: boolean) => void;
  /** Where the pointer is; null when it left. */
  hover: (at: Point | null) => void;
}

/** A hand that moved less than this meant to press. */
const SLOP = 4;
const TWICE_MS = 350;
const LINE = 16;

/** Mouse, pen and fingers on one element: drag, pinch, wheel, press. */
export class Fingers {
  readonly #gestures: Gestures;
  readonly #down = new Map<number, Point>();
  #moved = false;
  #began: Point = { x: 0, y: 0 };
  #last = { at: { x: 0, y: 0 }, time: -Infinity };

  constructor(gestures: Gestures) {
    this.#gestures = gestures;
  }

  watch(element: HTMLElement): () => void {
    const at = ({ clientX, clientY }: MouseEvent): Point => {
      const { left, top } = element.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    const stop = new AbortController();
    const on = <Name extends keyof HTMLElementEventMap>(name: Name, hear: (event: HTMLElementEventMap[Name]) => void) => {
      element.addEventListener(name, hear, { signal: stop.signal, passive: name !== 'wheel' });
    };
    on('pointerdown', (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      this.#begin(event.pointerId, at(event));
    });
    on('pointermove', (event) => {
      this.#move(event.pointerId, at(event));
    });
    on('pointerup', (event) => {
      this.#end(event.pointerId, at(event), event.timeStamp);
    });
    on('pointercancel', (event) => {
      this.#down.delete(event.pointerId);
    });
    on('pointerleave', () => {
      this.#gestures.hover(null);
    });
    on('wheel', (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE : 1;
      // A pinch on a touch pad comes as a wheel with Ctrl, in much smaller steps.
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      this.#gestures.pinch(Math.exp(-event.deltaY * lines * speed), at(event));
    });
    return () => {
      stop.abort();
    };
  }

  #begin(id: number, at: Point): void {
    this.#down.set(id, at);
    this.#moved = this.#down.size > 1;
    this.#began = at;
  }

  #move(id: number, at: Point): void {
    const before = this.#down.get(id);
    if (before === undefined) {
      this.#gestures.hover(at);
      return;
    }
    this.#moved ||= Math.hypot(at.x - this.#began.x, at.y - this.#began.y) > SLOP;
    if (!this.#moved) return;
    const other = [...this.#down].find(([known]) => known !== id)?.[1];
    this.#down.set(id, at);
    if (other === undefined) {
      this.#gestures.drag(at.x - before.x, at.y - before.y);
      return;
    }
    const apart = (point: Point) => Math.max(Math.hypot(point.x - other.x, point.y - other.y), 1);
    this.#gestures.drag((at.x - before.x) / 2, (at.y - before.y) / 2);
    this.#gestures.pinch(apart(at) / apart(before), { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 });
  }

  #end(id: number, at: Point, time: number): void {
    if (!this.#down.delete(id) || this.#moved) return;
    const { at: last, time: then } = this.#last;
    const twice = time - then < TWICE_MS && Math.hypot(at.x - last.x, at.y - last.y) <= SLOP * 2;
    this.#last = { at, time };
    this.#gestures.press(at, twice);
  }
}
