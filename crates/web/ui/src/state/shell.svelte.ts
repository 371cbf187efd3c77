/** What lies over the page, and what the page's list holds, so that keys can walk it. */
class Shell {
  overlay = $state<'palette' | 'help' | null>(null);
  rows = $state.raw<readonly string[]>([]);
}

export const shell = new Shell();
export const apple = /mac|iphone|ipad/i.test(navigator.userAgent);
