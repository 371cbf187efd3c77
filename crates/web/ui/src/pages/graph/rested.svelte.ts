/** A hand that drags, and play, pass by more than anybody can listen to. */
export const RESTS_MS = 700;

/** What is told to those who listen: at once, or once it has rested. */
export class Rested {
  text = $state('');
  #timer: ReturnType<typeof setTimeout> | undefined;

  tell(text: string): void {
    this.wait();
    this.text = text;
  }

  /** Tells it, as it is then, unless it moves again before. */
  tellAtRest(text: () => string): void {
    this.wait();
    this.#timer = setTimeout(() => {
      this.text = text();
    }, RESTS_MS);
  }

  /** It moves: what was told stands. */
  wait(): void {
    clearTimeout(this.#timer);
  }
}
