import type {
  AccessRequest,
  AuditEntry,
  Invite,
  MadeInvite,
  NewInvite,
  RequestPatch,
  RequestStatus,
  Role,
  Slice,
  User,
  UserPatch,
} from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';

/** Few enough that the first page of a long log is quick. */
export const AUDIT_LIMIT = 50;

export function readUsers(cursor: string | null): Promise<Answer<Slice<User>>> {
  return read(listPath('/api/admin/users', { cursor }), isSlice<User>);
}

export function changeUser(id: string, to: UserPatch): Promise<Answer<User>> {
  return write('PATCH', `/api/admin/users/${encodeURIComponent(id)}`, to, isItem<User>);
}

export function readInvites(cursor: string | null): Promise<Answer<Slice<Invite>>> {
  return read(listPath('/api/admin/invites', { cursor }), isSlice<Invite>);
}

export function createInvite(
  email: string,
  role: Role,
  accessRequest?: string,
): Promise<Answer<MadeInvite>> {
  const answers = accessRequest === undefined ? {} : { access_request_id: accessRequest };
  const body = { email, role, ...answers } satisfies NewInvite;
  return write('POST', '/api/admin/invites', body, isCreated);
}

export function revokeInvite(id: string): Promise<Answer<null>> {
  return change('DELETE', `/api/admin/invites/${encodeURIComponent(id)}`);
}

export function readRequests(
  status: string,
  cursor: string | null,
): Promise<Answer<Slice<AccessRequest>>> {
  const path = listPath('/api/admin/access-requests', { status, cursor });
  return read(path, isSlice<AccessRequest>);
}

export function markRequest(id: string, status: RequestStatus): Promise<Answer<AccessRequest>> {
  const path = `/api/admin/access-requests/${encodeURIComponent(id)}`;
  return write('PATCH', path, { status } satisfies RequestPatch, isItem<AccessRequest>);
}

export interface AuditFilter {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
}

export function readAudit(
  { action, actor, target }: AuditFilter,
  cursor: string | null,
): Promise<Answer<Slice<AuditEntry>>> {
  const path = listPath('/api/admin/audit', { action, actor, target, cursor }, AUDIT_LIMIT);
  return read(path, isSlice<AuditEntry>);
}

function isItem<Item extends { id: string }>(body: Body): body is Body & Item {
  return typeof body['id'] === 'string';
}

function isCreated(body: Body): body is Body & MadeInvite {
  return typeof body['link'] === 'string' && typeof body['item'] === 'object';
}
