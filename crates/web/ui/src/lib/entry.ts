import type { Identity } from './api/accounts';
import { compared } from './names';
import { PATHS } from './route';

/** Longer ones are ignored, as the server ignores them. */
export const NEXT_LIMIT = 1_000;
/** No token that the server writes is longer. */
export const TOKEN_LIMIT = 200;

/** Where to go after signing in: a path of this site, or null when it could lead elsewhere. */
export function safeNext(value: string | null | undefined): string | null {
  if (value === null || value === undefined || value.length > NEXT_LIMIT) return null;
  // Browsers read a backslash as a slash, and drop control characters before they look.
  if (!/^\/(?![/\\])/.test(value) || /[\u0000-\u001f\u007f]/.test(value)) return null;
  // Signing in leads on, not back to the page where one signs in.
  return value.split(/[?#]/)[0] === PATHS.login ? null : value;
}

/**
 * Whether what one typed may be left to the other. A server that was set up anew knows the same person by
 * another id; whoever signs in by the same e-mail address is who typed it.
 */
export function isSamePerson(one: Person, other: Person): boolean {
  return one.id === other.id || compared(one.email) === compared(other.email);
}

type Person = Pick<Identity, 'id' | 'email'>;

/** The address of the sign-in page that leads back to where one was, and knows whether a session ended. */
export function loginAddress(pathname: string, search: string, ended = false): string {
  const next = safeNext(pathname + search);
  const query = new URLSearchParams({
    ...(next === null || next === '/' ? {} : { next }),
    ...(ended ? { ended: 'yes' } : {}),
  }).toString();
  return query === '' ? PATHS.login : `${PATHS.login}?${query}`;
}

/** Why one is asked to sign in; null where one came by oneself. */
export function loginReason(next: string | null, ended: boolean): string | null {
  if (next?.split('?')[0] === PATHS.shared) return 'A report was shared with you. Sign in to read it.';
  if (ended) return 'Your session has ended. Sign in to go on.';
  return next === null ? null : 'Sign in to see the page that you asked for.';
}

/** The token in the fragment of a link, where no server and no log sees it. */
export function tokenOf(hash: string): string | null {
  const token = hash.replace(/^#/, '').trim();
  return /^[\w-]+$/.test(token) && token.length <= TOKEN_LIMIT ? token : null;
}

/** An address with the token that stood behind it, if it was the one that was left. */
export function withFragment(address: string, left: string | null): string {
  const [path = '', token = ''] = left?.split('#') ?? [];
  const leads = address.split('?')[0] === path && !address.includes('#') && tokenOf(token) !== null;
  return leads ? `${address}#${token}` : address;
}

/** The address without the refusal and the end, which are said once: a reload starts afresh. */
export function withoutError(pathname: string, search: string): string {
  const query = new URLSearchParams(search);
  query.delete('error');
  query.delete('ended');
  const rest = query.toString();
  return pathname + (rest === '' ? '' : `?${rest}`);
}

const SAYS: Record<string, string> = {
  invalid_credentials: 'The e-mail or the password is wrong.',
  user_disabled: 'This account is disabled. An admin can enable it.',
  too_many_attempts: 'Too many attempts. Wait a little, then try again.',
  busy: 'The server is busy. Try again in a moment.',
};

/** What is said when the link that signs in did not. */
export function linkError(code: string | null): string {
  return code === 'invalid_or_expired_token'
    ? 'The link was used already, or is of another start. Sign in with e-mail and password.'
    : 'Signing in by the link did not work. Sign in with e-mail and password.';
}

/** A refusal that came back in the address after a form was posted without a script. */
export function loginError(code: string | null): string | null {
  if (code === null) return null;
  return Object.hasOwn(SAYS, code) ? (SAYS[code] ?? null) : 'Signing in did not work. Try again.';
}
