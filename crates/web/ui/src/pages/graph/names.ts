import { plain } from '../../lib/isolate';

/** Names cut to the room they have; measuring is dear, so each is measured once. */
export class Names {
  readonly #cut = new Map<string, string>();

  /** Forgets all: another font measures differently. */
  clear(): void {
    this.#cut.clear();
  }

  fitted(pen: CanvasRenderingContext2D, name: string, width: number): string {
    const key = `${String(width)} ${name}`;
    const known = this.#cut.get(key);
    if (known !== undefined) return known;
    if (this.#cut.size > LIMIT) this.#cut.clear();
    const found = cut(pen, plain(name), width);
    this.#cut.set(key, found);
    return found;
  }
}

const LIMIT = 20_000;
/** No card has room for more letters, so no more are measured. */
const LETTERS = 64;

function cut(pen: CanvasRenderingContext2D, name: string, width: number): string {
  const letters = [...name.slice(0, 2 * LETTERS)].slice(0, LETTERS);
  const whole = letters.length === [...name.slice(0, 2 * LETTERS + 2)].length;
  if (whole && pen.measureText(name).width <= width) return name;
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${letters.slice(0, middle).join('')}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('').trimEnd()}…`;
}
