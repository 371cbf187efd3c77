/** Keeps the items in whose texts every word of the filter occurs, whatever the case. */
export function narrow<Item>(
  items: readonly Item[],
  filter: string,
  texts: (item: Item) => readonly string[],
): Item[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...items];
  return items.filter((item) => {
    const text = texts(item).join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The name that lies `step` rows from the selected one; the ends hold. */
export function neighbour(
  names: readonly string[],
  selected: string | null,
  step: 1 | -1,
): string | null {
  const at = selected === null ? -1 : names.indexOf(selected);
  if (at === -1) return (step === 1 ? names.at(0) : names.at(-1)) ?? null;
  return names[at + step] ?? selected;
}
