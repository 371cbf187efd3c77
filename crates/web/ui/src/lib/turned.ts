import { plain } from './isolate';

/** Where a text is read that stands in no node of its own. */
const ATTRIBUTES = ['aria-label', 'aria-valuetext', 'title'];

/**
 * Shows the marks that turn text around wherever the page shows any, before it is drawn. Names come from
 * outside into every corner of the page; here none can be forgotten, and what is sent back stays as it came.
 */
export function showTurns(root: HTMLElement): void {
  const mend = new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === 'attributes') mendAttributes(change.target);
      else if (change.type === 'characterData') mendText(change.target);
      else for (const node of change.addedNodes) mendAll(node);
    }
  });
  mend.observe(root, { subtree: true, childList: true, characterData: true, attributeFilter: ATTRIBUTES });
}

function mendAll(top: Node): void {
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node: Node | null = top; node !== null; node = walker.nextNode()) {
    mendText(node);
    mendAttributes(node);
  }
}

function mendText(node: Node): void {
  if (!(node instanceof Text)) return;
  const seen = plain(node.data);
  if (seen !== node.data) node.data = seen;
}

function mendAttributes(node: Node): void {
  if (!(node instanceof Element)) return;
  for (const name of ATTRIBUTES) {
    const text = node.getAttribute(name);
    if (text === null) continue;
    const seen = plain(text);
    if (seen !== text) node.setAttribute(name, seen);
  }
}
