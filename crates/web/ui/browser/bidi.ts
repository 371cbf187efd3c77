import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/**
 * Every text with right-to-left letters stands in an element of its own direction, or between the
 * characters that do the same: what stands beside it keeps its order.
 */
export async function expectIsolated(page: Page, where: string): Promise<void> {
  const leaking = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.textContent ?? '';
      const parent = node.parentElement;
      if (parent === null || !/[\u0590-\u08ff\u202e]/.test(text.replace(/\u2068[^\u2069]*\u2069/g, ''))) continue;
      const holder = parent.closest('bdi, [dir="auto"]');
      // What is found letter by letter is one name too.
      const others = [...(holder?.childNodes ?? [])].filter(
        (other) => !other.contains(node) && [...(other.textContent ?? '').trim()].length > 1,
      );
      if (holder === null || others.length > 0) found.push((holder ?? parent).outerHTML.slice(0, 160));
    }
    return found;
  });
  expect(leaking, where).toEqual([]);
}

/** No mark that turns text around is left where somebody reads, so no name reads as another. */
export async function expectPlain(page: Page, where: string): Promise<void> {
  const turned = await page.evaluate(() => {
    const attributes = [...document.querySelectorAll('*')].flatMap((element) =>
      ['aria-label', 'aria-valuetext', 'title'].map((name) => element.getAttribute(name) ?? ''),
    );
    const texts = [document.title, document.body.innerText, document.body.textContent ?? '', ...attributes];
    return texts.filter((text) => /[\u202a-\u202e\u2066\u2067]/.test(text)).map((text) => text.slice(0, 160));
  });
  expect(turned, where).toEqual([]);
}
