/** What a browser remembers for this person; a browser that refuses forgets, and nothing breaks. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(KEY_PREFIX + name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(KEY_PREFIX + name, value);
  } catch {
    // Refused or full: the choice holds until the page is closed.
  }
}

export function forget(name: string): void {
  try {
    localStorage.removeItem(KEY_PREFIX + name);
  } catch {
    // Nothing was remembered either.
  }
}

const KEY_PREFIX = 'mainstay.';
