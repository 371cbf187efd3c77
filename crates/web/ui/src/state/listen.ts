import { press, type Awaiting } from '../lib/keys';
import { act } from './act';
import { shell } from './shell.svelte';

/** Turns the keyboard into commands until the returned function is called. */
export function listen(): () => void {
  let awaiting: Awaiting | null = null;
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const outcome = press(awaiting, {
      key: event.key,
      mod: event.metaKey || event.ctrlKey,
      alt: event.altKey,
      typing: isTyping(event.target),
      onControl: event.target instanceof Element && event.target.matches('a, button, summary'),
      now: event.timeStamp,
    });
    awaiting = outcome.awaiting;
    if (outcome.command === null) return;
    // A held key walks the list; anything else would only flicker.
    if (event.repeat && outcome.command !== 'next' && outcome.command !== 'previous') return;
    // An open dialog has the keyboard for itself: its own key and Escape put it away.
    if (shell.overlay !== null && ![shell.overlay, 'close'].includes(outcome.command)) return;
    event.preventDefault();
    act(outcome.command);
  };
  addEventListener('keydown', onKey);
  return () => {
    removeEventListener('keydown', onKey);
  };
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, textarea, select');
}
