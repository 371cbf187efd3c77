import type { AccessForm, AccessReceived, InviteLook, Me, SetupNeeded, SignedIn } from './accounts';
import { change, read, write, type Answer, type Body } from './client';

export function readMe(): Promise<Answer<Me>> {
  return read('/api/auth/me', isMe);
}

export function readSetup(): Promise<Answer<SetupNeeded>> {
  return read('/api/auth/setup', isSetup);
}

export function setUp(token: string, email: string, password: string): Promise<Answer<SignedIn>> {
  return write('POST', '/api/auth/setup', { token, email, password }, isSignedIn);
}

export function logIn(
  email: string,
  password: string,
  next: string | null,
): Promise<Answer<SignedIn>> {
  const body = { email, password, ...(next === null ? {} : { next }) };
  return write('POST', '/api/auth/login', body, isSignedIn);
}

export function logOut(): Promise<Answer<null>> {
  return change('POST', '/api/auth/logout');
}

export function lookAtInvite(token: string): Promise<Answer<InviteLook>> {
  return write('POST', '/api/invites/look', { token }, isLook);
}

export function acceptInvite(token: string, password: string): Promise<Answer<SignedIn>> {
  return write('POST', '/api/invites/accept', { token, password }, isSignedIn);
}

export function readAccessForm(): Promise<Answer<AccessForm>> {
  return read('/api/access-requests/form', isForm);
}

export interface AccessAsk {
  readonly email: string;
  readonly name?: string;
  readonly company?: string;
  readonly note?: string;
  readonly website: string;
  readonly client_ts: string;
}

export function requestAccess(asked: AccessAsk): Promise<Answer<AccessReceived>> {
  return write('POST', '/api/access-requests', asked, isReceived);
}

function isMe(body: Body): body is Body & Me {
  return isSignedIn(body) && typeof body.user.role === 'string';
}

function isSignedIn(body: Body): body is Body & SignedIn {
  return typeof body['user'] === 'object' && body['user'] !== null;
}

function isSetup(body: Body): body is Body & SetupNeeded {
  return typeof body['needed'] === 'boolean';
}

function isLook(body: Body): body is Body & InviteLook {
  return typeof body['email'] === 'string' && typeof body['role'] === 'string';
}

function isForm(body: Body): body is Body & AccessForm {
  return typeof body['client_ts'] === 'string';
}

function isReceived(body: Body): body is Body & AccessReceived {
  return typeof body['status'] === 'string';
}
