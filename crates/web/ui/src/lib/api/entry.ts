import type {
  Acceptance,
  AccessForm,
  Enter,
  FormStamp,
  Invitation,
  InviteToken,
  LoggedIn,
  Login,
  Me,
  Received,
  Setup,
  SetupState,
  UserAnswer,
} from './accounts';
import { change, read, write, type Answer, type Body } from './client';

export function readMe(): Promise<Answer<Me>> {
  return read('/api/auth/me', isMe);
}

export function readSetup(): Promise<Answer<SetupState>> {
  return read('/api/auth/setup', isSetup);
}

export function setUp(token: string, email: string, password: string): Promise<Answer<UserAnswer>> {
  const body = { token, email, password } satisfies Setup;
  return write('POST', '/api/auth/setup', body, hasUser);
}

export function enterByLink(token: string): Promise<Answer<UserAnswer>> {
  return write('POST', '/api/auth/enter', { token } satisfies Enter, hasUser);
}

export function logIn(
  email: string,
  password: string,
  next: string | null,
): Promise<Answer<LoggedIn>> {
  const body = { email, password, ...(next === null ? {} : { next }) } satisfies Login;
  return write('POST', '/api/auth/login', body, isLoggedIn);
}

export function logOut(): Promise<Answer<null>> {
  return change('POST', '/api/auth/logout');
}

export function lookAtInvite(token: string): Promise<Answer<Invitation>> {
  return write('POST', '/api/invites/look', { token } satisfies InviteToken, isInvitation);
}

export function acceptInvite(token: string, password: string): Promise<Answer<UserAnswer>> {
  const body = { token, password } satisfies Acceptance;
  return write('POST', '/api/invites/accept', body, hasUser);
}

export function readAccessForm(): Promise<Answer<FormStamp>> {
  return read('/api/access-requests/form', isStamp);
}

export function requestAccess(asked: AccessForm): Promise<Answer<Received>> {
  return write('POST', '/api/access-requests', asked, isReceived);
}

function isMe(body: Body): body is Body & Me {
  return hasUser(body) && typeof body.user.role === 'string';
}

function hasUser(body: Body): body is Body & UserAnswer {
  return typeof body['user'] === 'object' && body['user'] !== null;
}

function isLoggedIn(body: Body): body is Body & LoggedIn {
  return hasUser(body);
}

function isSetup(body: Body): body is Body & SetupState {
  return typeof body['needed'] === 'boolean';
}

function isInvitation(body: Body): body is Body & Invitation {
  return typeof body['email'] === 'string' && typeof body['role'] === 'string';
}

function isStamp(body: Body): body is Body & FormStamp {
  return typeof body['client_ts'] === 'string';
}

function isReceived(body: Body): body is Body & Received {
  return typeof body['status'] === 'string';
}
