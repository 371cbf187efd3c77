/**
 * The API's shapes for accounts and access. They are written by hand until the OpenAPI snapshot
 * has these routes: then `Schemas` becomes the generated `components['schemas']`.
 */
interface Schemas {
  Role: 'admin' | 'editor' | 'viewer';
  Scope: 'read' | 'write' | 'agent';
  Identity: { id: string; email: string; role: Schemas['Role'] };
  Me: { user: Schemas['Identity']; session: { id: string; expires_at: string } | null };
  SetupNeeded: { needed: boolean };
  SignedIn: { user: Schemas['Identity']; next?: string | null };
  InviteLook: { email: string; role: Schemas['Role']; expires_at: string };
  AccessForm: { client_ts: string };
  AccessReceived: { status: string };
  Session: {
    id: string;
    created_at: string;
    last_seen_at: string;
    expires_at: string;
    address: string | null;
    user_agent: string | null;
    current: boolean;
  };
  ApiToken: {
    id: string;
    name: string;
    scope: Schemas['Scope'];
    prefix: string;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
  };
  CreatedToken: { token: string; item: Schemas['ApiToken'] };
  User: {
    id: string;
    email: string;
    role: Schemas['Role'];
    status: 'active' | 'disabled';
    created_at: string;
    last_login_at: string | null;
  };
  Invite: {
    id: string;
    email: string;
    role: Schemas['Role'];
    status: 'pending' | 'accepted' | 'expired' | 'revoked';
    created_at: string;
    expires_at: string;
    created_by: string;
  };
  CreatedInvite: { link: string; mailed: boolean; item: Schemas['Invite'] };
  AccessRequest: {
    id: string;
    email: string;
    name: string | null;
    company: string | null;
    note: string | null;
    status: 'new' | 'contacted' | 'approved' | 'rejected';
    created_at: string;
    handled_by: string | null;
    handled_at: string | null;
  };
  AuditEntry: {
    id: string;
    at: string;
    actor: { kind: 'user' | 'token' | 'cli' | 'public'; id: string | null; email: string | null };
    action: string;
    target: { kind: string; id: string | null };
    detail: Record<string, unknown>;
    address: string | null;
    request_id: string | null;
  };
}

export type Role = Schemas['Role'];
export type Scope = Schemas['Scope'];
export type Me = Schemas['Me'];
export type SetupNeeded = Schemas['SetupNeeded'];
export type SignedIn = Schemas['SignedIn'];
export type InviteLook = Schemas['InviteLook'];
export type AccessForm = Schemas['AccessForm'];
export type AccessReceived = Schemas['AccessReceived'];
export type Session = Schemas['Session'];
export type ApiToken = Schemas['ApiToken'];
export type CreatedToken = Schemas['CreatedToken'];
export type User = Schemas['User'];
export type Invite = Schemas['Invite'];
export type CreatedInvite = Schemas['CreatedInvite'];
export type AccessRequest = Schemas['AccessRequest'];
export type RequestStatus = AccessRequest['status'];
export type AuditEntry = Schemas['AuditEntry'];

/** One page of a list, and where the next one begins. */
export interface Slice<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}
