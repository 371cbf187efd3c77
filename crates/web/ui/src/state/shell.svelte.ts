export type Overlay = 'palette' | 'help';

/** What lies over the page, and what the page's list holds, so that keys can walk it. */
class Shell {
  overlay = $state<Overlay | null>(null);
  rows = $state.raw<readonly string[]>([]);

  toggle(overlay: Overlay): void {
    if (this.overlay === overlay) this.close();
    else this.overlay = overlay;
  }

  /** The dialog is closed before it is removed: only then does it give the focus back. */
  close(): void {
    document.querySelector<HTMLDialogElement>('dialog[open]')?.close();
    this.overlay = null;
  }
}

export const shell = new Shell();
export const apple = /mac|iphone|ipad/i.test(navigator.userAgent);
