import type { Page } from 'playwright-core';

declare global {
  interface Window {
    paintedAt?: number;
    keyPaints?: number[];
    longTasks?: number[];
  }
}

/** Notes when, after the navigation began, so many of these stood in a frame that was drawn. */
export async function watchPaint(page: Page, selector: string, count: number): Promise<void> {
  await page.addInitScript(
    ([wanted, least]) => {
      const look = () => {
        if (document.querySelectorAll(wanted).length < least) requestAnimationFrame(look);
        // The frame that shows it is drawn before the next one begins.
        else requestAnimationFrame(() => (window.paintedAt = performance.now()));
      };
      requestAnimationFrame(look);
    },
    [selector, count] as const,
  );
}

/** The milliseconds from the navigation to what `watchPaint` waits for. */
export async function drawnAfter(page: Page): Promise<number> {
  const handle = await page.waitForFunction(() => window.paintedAt);
  return (await handle.jsonValue()) ?? Number.NaN;
}

/** Types texts key by key; gives the milliseconds from each key to the frame that shows its effect. */
export async function keyToPaint(
  page: Page,
  selector: string,
  texts: readonly string[],
): Promise<number[]> {
  await page.evaluate(() => {
    const paints: number[] = [];
    window.keyPaints = paints;
    addEventListener(
      'input',
      ({ timeStamp }) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => paints.push(performance.now() - timeStamp);
          port2.postMessage(null);
        });
      },
      true,
    );
  });
  for (const text of texts) {
    await page.locator(selector).fill('');
    await page.locator(selector).pressSequentially(text, { delay: 120 });
  }
  return page.evaluate(() => window.keyPaints ?? []);
}

/** The tasks of more than 50 ms while something happens. */
export async function longTasks(page: Page, happens: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const tasks: number[] = [];
    window.longTasks = tasks;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration);
    }).observe({ type: 'longtask' });
  });
  await happens();
  return page.evaluate(() => window.longTasks ?? []);
}

/** The bytes of the page's heap that are in use after the rubbish is gone. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
