/** Gives a file to whoever looks, without asking the server once more. */
export function saveJson(name: string, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken it by then, in its own time.
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, KEEP_MS);
}

const KEEP_MS = 60_000;
