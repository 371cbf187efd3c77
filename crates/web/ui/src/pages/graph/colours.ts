import type { Status } from '../../lib/status';

/** The colours of the drawing, as the tokens have them now. */
export interface Colours {
  readonly canvas: string;
  readonly card: string;
  readonly border: string;
  readonly edge: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly users: string;
  readonly uses: string;
  readonly fill: Record<Status, string>;
  readonly line: Record<Status, string>;
  readonly words: Record<Status, string>;
  readonly font: string;
}

/** Read anew when the theme changes: a canvas knows no custom properties. */
export function coloursOf(element: Element, isPast: boolean): Colours {
  const style = getComputedStyle(element);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const each = (make: (status: Status) => string): Record<Status, string> => ({
    healthy: make('healthy'),
    degraded: make('degraded'),
    down: make('down'),
    unknown: make('unknown'),
    skipped: make('skipped'),
  });
  const words = each((status) => token(`text-${status}`));
  const ground = token(isPast ? 'past' : 'canvas');
  return {
    canvas: ground,
    card: isPast ? ground : token('raised'),
    border: token('border-strong'),
    edge: token('graph-edge'),
    text: token('text'),
    muted: token('text-muted'),
    accent: token('accent'),
    users: token('graph-users'),
    uses: token('graph-uses'),
    fill: each((status) => token(`status-${status}`)),
    // Its ground is another, on which the palette alone is too faint.
    line: isPast ? words : each((status) => token(status === 'degraded' ? 'edge-degraded' : `status-${status}`)),
    words,
    font: style.fontFamily,
  };
}
