import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

export interface Given {
  readonly name: string;
  readonly text: string;
}

/** The transcript of the guide. */
export const EXAMPLE: Given = {
  name: 'incident-call.vtt',
  text: readFileSync(
    fileURLToPath(new URL('../../../../docs/guide/examples/incident-call.vtt', import.meta.url)),
    'utf8',
  ),
};

/** Lets go of files over the middle of the page, as a hand would. */
export async function drop(page: Page, ...files: readonly Given[]): Promise<void> {
  await page.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    for (const { name, text } of given) dataTransfer.items.add(new File([text], name));
    const target = document.querySelector('main') ?? document.body;
    for (const type of ['dragenter', 'dragover', 'drop']) {
      target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    }
  }, files);
}

/** Chooses files by the button. */
export async function choose(page: Page, ...files: readonly Given[]): Promise<void> {
  const given = files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));
  await page.locator('input[type="file"]').setInputFiles(given);
}
