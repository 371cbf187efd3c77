import {
  choice,
  DENSITIES,
  following,
  shownTheme,
  THEMES,
  type Density,
  type Theme,
} from '../lib/preferences';
import { remember, remembered } from '../lib/storage';

class Preferences {
  theme = $state<Theme>(choice(THEMES, remembered('theme')));
  density = $state<Density>(choice(DENSITIES, remembered('density')));
  readonly #system = matchMedia('(prefers-color-scheme: dark)');

  constructor() {
    this.#show();
    this.#system.addEventListener('change', () => {
      this.#show();
    });
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    remember('theme', theme);
    this.#show();
  }

  nextTheme(): void {
    this.setTheme(following(THEMES, this.theme));
  }

  nextDensity(): void {
    this.density = following(DENSITIES, this.density);
    remember('density', this.density);
    this.#show();
  }

  #show(): void {
    const root = document.documentElement;
    root.dataset['theme'] = shownTheme(this.theme, this.#system.matches);
    root.dataset['density'] = this.density;
    const canvas = getComputedStyle(root).getPropertyValue('--canvas').trim();
    document.querySelector('meta[name="theme-color"]')?.setAttribute('content', canvas);
  }
}

export const preferences = new Preferences();
