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

/** For this tab alone, and only until it is asked for. */
export function leaveForLater(name: string, value: string): void {
  try {
    sessionStorage.setItem(KEY_PREFIX + name, value);
  } catch {
    // Refused: it has to be given once more.
  }
}

export function takeUp(name: string): string | null {
  try {
    const value = sessionStorage.getItem(KEY_PREFIX + name);
    sessionStorage.removeItem(KEY_PREFIX + name);
    return value;
  } catch {
    return null;
  }
}

const KEY_PREFIX = 'mainstay.';
