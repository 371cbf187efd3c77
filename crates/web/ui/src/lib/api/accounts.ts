import type { components } from './schema';

/** The API's shapes for accounts and access, as the server's own description has them. */
type Schemas = components['schemas'];

export type Role = Schemas['Role'];
export type Scope = Schemas['Scope'];
export type Identity = Schemas['Identity'];
export type Me = Schemas['Me'];
export type Enter = Schemas['Enter'];
export type Setup = Schemas['Setup'];
export type SetupState = Schemas['SetupState'];
export type Login = Schemas['Login'];
export type LoggedIn = Schemas['LoggedIn'];
export type UserAnswer = Schemas['UserAnswer'];
export type Invitation = Schemas['Invitation'];
export type InviteToken = Schemas['InviteToken'];
export type Acceptance = Schemas['Acceptance'];
export type AccessForm = Schemas['AccessForm'];
export type FormStamp = Schemas['FormStamp'];
export type Received = Schemas['Received'];
export type Session = Schemas['SessionItem'];
export type Ended = Schemas['Ended'];
export type PasswordChange = Schemas['PasswordChange'];
export type ApiToken = Schemas['ApiToken'];
export type NewToken = Schemas['NewToken'];
export type MadeToken = Schemas['MadeToken'];
export type User = Schemas['User'];
export type UserPatch = Schemas['UserPatch'];
export type Invite = Schemas['Invite'];
export type NewInvite = Schemas['NewInvite'];
export type MadeInvite = Schemas['MadeInvite'];
export type AccessRequest = Schemas['AccessRequest'];
export type RequestPatch = Schemas['RequestPatch'];
export type RequestStatus = Schemas['RequestStatus'];
export type AuditEntry = Schemas['AuditEntry'];

/** One page of any list; the description has one for each kind of item. */
export interface Slice<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}
