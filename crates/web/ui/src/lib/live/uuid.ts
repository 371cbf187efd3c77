type Chance = Pick<Crypto, 'getRandomValues'> & Partial<Pick<Crypto, 'randomUUID'>>;

/** A random UUID, also on plain HTTP, where the browser has no `randomUUID`. */
export function uuid(chance: Chance = crypto): string {
  if (typeof chance.randomUUID === 'function') return chance.randomUUID();
  const bytes = chance.getRandomValues(new Uint8Array(16));
  const digits = Array.from(bytes, (byte, at) => {
    // The two places that say: version 4, and the variant of RFC 9562.
    const marked = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
