import { reach, type Lists } from './lists';

/** How a node stands to the selected one. */
export const APART = 0;
export const SELECTED = 1;
/** It leans on the selected one, however far. */
export const USER = 2;
/** The selected one leans on it, however far. */
export const USED = 3;
/** Nothing is selected. */
export const PLAIN = 4;

/** How each node stands to the selected one; in a circle, both ways, it is what is leant on. */
export function emphasis(lists: Lists, selected: number | null, matches: readonly boolean[] | null): Uint8Array {
  const found = new Uint8Array(lists.uses.length);
  if (selected !== null) {
    for (const user of reach(lists.users, selected).keys()) found[user] = USER;
    for (const used of reach(lists.uses, selected).keys()) found[used] = USED;
    found[selected] = SELECTED;
  } else if (matches !== null) {
    matches.forEach((does, place) => (found[place] = does ? PLAIN : APART));
  } else {
    found.fill(PLAIN);
  }
  return found;
}

/** An edge belongs to the way to or from the selected node when both of its ends do. */
export function edgeEmphasis(from: number, to: number): number {
  if (from === PLAIN && to === PLAIN) return PLAIN;
  const isUser = (from === USER || from === SELECTED) && (to === USER || to === SELECTED);
  if (isUser) return USER;
  const isUsed = (from === USED || from === SELECTED) && (to === USED || to === SELECTED);
  return isUsed ? USED : APART;
}
