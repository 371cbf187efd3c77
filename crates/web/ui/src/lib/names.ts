/** A name as it is compared with others, as the server does. */
export function compared(name: string): string {
  return name.trim().toLowerCase();
}
