export const PASSWORD_MIN = 12;
export const PASSWORD_MAX = 256;
export const EMAIL_MAX = 254;

/** What is wrong with an e-mail address at first sight; the server has the last word. */
export function emailProblem(text: string): string | null {
  const email = text.trim();
  if (email === '') return 'An e-mail address is needed.';
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) return 'This is no e-mail address.';
  return email.length > EMAIL_MAX ? 'This e-mail address is too long.' : null;
}

/** What is wrong with a new password. */
export function passwordProblem(text: string): string | null {
  const length = characters(text);
  if (length === 0) return 'A password is needed.';
  if (length < PASSWORD_MIN) return `At least ${String(PASSWORD_MIN)} characters are needed.`;
  if (length > PASSWORD_MAX) return `At most ${String(PASSWORD_MAX)} characters are possible.`;
  return text.includes('\0') ? 'The password holds a character that cannot be typed.' : null;
}

/** How far a new password has come, while it is typed. */
export function passwordHint(text: string): { readonly says: string; readonly enough: boolean } {
  const length = characters(text);
  const limit = `At least ${String(PASSWORD_MIN)} characters`;
  if (length === 0) return { says: `${limit}. A few words are easy to remember.`, enough: false };
  if (length < PASSWORD_MIN) return { says: `${limit}: ${String(length)} so far`, enough: false };
  if (length > PASSWORD_MAX) return { says: passwordProblem(text) ?? '', enough: false };
  return { says: `Long enough: ${String(length)} characters`, enough: true };
}

/** Counted as the server counts: an emoji is not two. */
function characters(text: string): number {
  return Array.from(text).length;
}
