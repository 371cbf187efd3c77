import type {
  ApiToken,
  Ended,
  MadeToken,
  NewToken,
  PasswordChange,
  Scope,
  Session,
  Slice,
} from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';

export function readSessions(cursor: string | null): Promise<Answer<Slice<Session>>> {
  return read(listPath('/api/account/sessions', { cursor }), isSlice<Session>);
}

export function endSession(id: string): Promise<Answer<null>> {
  return change('DELETE', `/api/account/sessions/${encodeURIComponent(id)}`);
}

export function endOtherSessions(): Promise<Answer<Ended>> {
  return write('DELETE', '/api/account/sessions', undefined, isEnded);
}

export function readTokens(cursor: string | null): Promise<Answer<Slice<ApiToken>>> {
  return read(listPath('/api/account/tokens', { cursor }), isSlice<ApiToken>);
}

/** `days` is how long it lives; null is for ever. */
export function createToken(
  name: string,
  scope: Scope,
  days: number | null,
): Promise<Answer<MadeToken>> {
  const body = { name, scope, expires_in_days: days } satisfies NewToken;
  return write('POST', '/api/account/tokens', body, isCreated);
}

export function revokeToken(id: string): Promise<Answer<null>> {
  return change('DELETE', `/api/account/tokens/${encodeURIComponent(id)}`);
}

export function changePassword(current: string, next: string): Promise<Answer<null>> {
  const body = { current_password: current, new_password: next } satisfies PasswordChange;
  return change('POST', '/api/account/password', body);
}

function isEnded(body: Body): body is Body & Ended {
  return typeof body['ended'] === 'number';
}

function isCreated(body: Body): body is Body & MadeToken {
  return typeof body['token'] === 'string' && typeof body['item'] === 'object';
}
