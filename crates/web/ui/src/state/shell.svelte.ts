import type { Snippet } from 'svelte';

export type Overlay = 'palette' | 'help' | 'ask' | 'sign-in';

/** What the inspector shows about the selected row. */
export interface Panel {
  readonly title: string;
  readonly body: Snippet;
}

/** What lies over the page, and what the page's list holds, so that keys can walk it. */
class Shell {
  overlay = $state<Overlay | null>(null);
  rows = $state.raw<readonly string[]>([]);
  /** Where rows lead elsewhere than to the inspector. */
  opens: ((row: string) => void) | null = null;
  panel = $state.raw<Panel | null>(null);
  /** What the page is about, where its own title says too little. */
  subject = $state<string | null>(null);

  toggle(overlay: Overlay): void {
    if (this.overlay === overlay) this.close();
    else this.overlay = overlay;
  }

  /** The dialog is closed before it is removed: only then does it give the focus back. */
  close(): void {
    document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
    this.overlay = null;
  }

  /** The rows of the page, until the returned function is called. */
  list(rows: readonly string[], opens: ((row: string) => void) | null = null): () => void {
    this.rows = rows;
    this.opens = opens;
    return () => {
      this.rows = [];
      this.opens = null;
    };
  }

  /** What the page is about, until the returned function is called. */
  about(subject: string | null): () => void {
    this.subject = subject;
    return () => (this.subject = null);
  }

  /** What the inspector holds, until the returned function is called. */
  inspect(panel: Panel | null): () => void {
    this.panel = panel;
    return () => (this.panel = null);
  }
}

export const shell = new Shell();
export const apple = /mac|iphone|ipad/i.test(navigator.userAgent);
