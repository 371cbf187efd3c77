import type { Slice } from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Service = Schemas['Service'];
export type ServiceDetail = Schemas['ServicePage'];
export type ServiceStatus = Schemas['ServiceStatus'];
export type NewService = Schemas['NewService'];
export type ServiceChange = Schemas['ServiceChange'];
export type Schedule = Schemas['Schedule'];
export type Breaker = Schemas['Breaker'];
export type PollAnswer = Schemas['PollAnswer'];
export type PollHistoryItem = Schemas['PollHistoryItem'];
export type Uptime = Schemas['Uptime'];
export type UptimeWindow = Schemas['UptimeWindow'];
export type Trial = Schemas['SchemaTrial'];
export type TrialAnswer = Schemas['SchemaTrialAnswer'];
export type TriedDependency = Schemas['TriedDependency'];

const PATH = '/api/services';

/** What narrows and orders the list; what is empty does not. */
export interface Asked {
  readonly q: string;
  readonly status: string;
  readonly team: string;
  readonly sort: string;
}

export function readServices(
  asked: Partial<Asked>,
  cursor: string | null,
  limit?: number,
): Promise<Answer<Slice<Service>>> {
  return read(listPath(PATH, { ...asked, cursor }, limit), isSlice<Service>);
}

export function readService(id: string): Promise<Answer<ServiceDetail>> {
  return read(one(id), isDetail);
}

export function createService(service: NewService): Promise<Answer<Service>> {
  return write('POST', PATH, service, isService);
}

export function changeService(id: string, patch: ServiceChange): Promise<Answer<Service>> {
  return write('PATCH', one(id), patch, isService);
}

export function deleteService(id: string): Promise<Answer<null>> {
  return change('DELETE', one(id));
}

/** Polls it now and waits for the result. */
export function pollService(id: string): Promise<Answer<PollAnswer>> {
  return write('POST', `${one(id)}/poll`, undefined, isPollAnswer);
}

export function readPollHistory(
  id: string,
  cursor: string | null,
  limit: number,
): Promise<Answer<Slice<PollHistoryItem>>> {
  return read(listPath(`${one(id)}/poll-history`, { cursor }, limit), isSlice<PollHistoryItem>);
}

export function readUptime(id: string): Promise<Answer<Uptime>> {
  return read(`${one(id)}/uptime`, isUptime);
}

/** What the server would read; nothing is stored. */
export function tryFormat(trial: Trial): Promise<Answer<TrialAnswer>> {
  return write('POST', `${PATH}/test-schema`, trial, isTrialAnswer);
}

const one = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

function isService(body: Body): body is Body & Service {
  return typeof body['id'] === 'string' && typeof body['status'] === 'string';
}

function isDetail(body: Body): body is Body & ServiceDetail {
  return isService(body) && Array.isArray(body['dependencies']);
}

export function isUptime(body: Body): body is Body & Uptime {
  return Array.isArray(body['windows']);
}

function isPollAnswer(body: Body): body is Body & PollAnswer {
  return typeof body['success'] === 'boolean' && Array.isArray(body['status_changes']);
}

function isTrialAnswer(body: Body): body is Body & TrialAnswer {
  return typeof body['success'] === 'boolean' && Array.isArray(body['dependencies']);
}
