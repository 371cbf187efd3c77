import type { Status } from '../lib/status';

/** The tokens' colours for what is drawn on a canvas, which knows no style sheet. */
export interface Colours {
  readonly status: Readonly<Record<Status, string>>;
  readonly line: string;
  readonly mark: string;
  readonly ground: string;
}

class Ink {
  colours = $state.raw<Colours>(read());

  constructor() {
    const change = new MutationObserver(() => {
      this.colours = read();
    });
    change.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  }
}

function read(): Colours {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  return {
    status: {
      healthy: token('--status-healthy'),
      degraded: token('--status-degraded'),
      down: token('--status-down'),
      unknown: token('--status-unknown'),
      skipped: token('--status-skipped'),
    },
    line: token('--text-muted'),
    mark: token('--text'),
    ground: token('--border-strong'),
  };
}

export const ink = new Ink();
