import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Question } from './ask.svelte';
import type { Guard } from './router.svelte';

const guards = vi.hoisted(() => new Set<Guard>());
const asked = vi.hoisted((): Question[] => []);
vi.mock('./router.svelte', () => ({
  router: {
    guard: (guard: Guard) => {
      guards.add(guard);
      return () => guards.delete(guard);
    },
  },
}));
vi.mock('./ask.svelte', () => ({ asking: { ask: (question: Question) => asked.push(question) } }));
const { holdTyped } = await import('./leaving');

let page: EventTarget;
beforeEach(() => {
  page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
});
afterEach(() => {
  vi.unstubAllGlobals();
  guards.clear();
  asked.splice(0);
});

/** Whether the browser closes the page without a question. */
const closes = () => page.dispatchEvent(new Event('beforeunload', { cancelable: true }));

it('asks before the page is closed or loaded again, until it is let go', () => {
  const release = holdTyped();
  expect(closes()).toBe(false);
  release();
  expect(closes()).toBe(true);
});

it('asks before another page is gone to, and goes after a yes', async () => {
  const release = holdTyped();
  const leave = vi.fn();
  const [guard] = guards;
  expect(guard?.(leave)).toBe(false);
  expect(leave).not.toHaveBeenCalled();
  await asked[0]?.run('');
  expect(leave).toHaveBeenCalledOnce();
  release();
  expect(guards.size).toBe(0);
});
