import type { Slice } from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice, listPath } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Journey = Schemas['Journey'];
export type JourneyDetail = Schemas['JourneyPage'];
export type JourneyCheck = Schemas['JourneyCheck'];
export type Mistake = Schemas['Mistake'];
export type RunMark = Schemas['RunMark'];
export type RunStatus = Schemas['RunStatus'];
export type Run = Schemas['JourneyRun'];
export type RunDetail = Schemas['JourneyRunDetail'];
export type RunRecord = Schemas['RunRecord'];
export type RunProgress = Schemas['JourneyRunProgress'];
export type StepRecord = Schemas['StepRecord'];
export type PollerRecord = Schemas['PollerRecord'];
export type FailingJourney = Schemas['FailingJourney'];

/** What the organisation's stream tells of journeys. */
export const JOURNEY_EVENTS = [
  'journey:run_finished',
  'journey:failed',
  'journey:recovered',
  'journey:changed',
];

/** That more is known of a run that is under way, or was cancelled: too often for whoever shows no run. */
export const RUN_EVENTS = [...JOURNEY_EVENTS, 'journey:run_progressed'];

const PATH = '/api/journeys';
/** What is longer is not searched for. */
const SEARCH_CHARS = 100;

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** A page of the journeys, the failing ones first: those in which every word of `q` is found. */
export function readJourneys(cursor: string | null, q = ''): Promise<Answer<Slice<Journey>>> {
  return read(listPath(PATH, { q: q.trim().slice(0, SEARCH_CHARS), cursor }), isSlice<Journey>);
}

export function readJourney(id: string): Promise<Answer<JourneyDetail>> {
  return read(pathOf(id), isJourney);
}

/** The journeys that are failing, the longest first. */
export function readFailing(): Promise<Answer<Slice<FailingJourney>>> {
  return read(`${PATH}/failing`, isSlice<FailingJourney>);
}

export function checkJourney(source: string): Promise<Answer<JourneyCheck>> {
  return write('POST', `${PATH}/check`, { source } satisfies Schemas['JourneySource'], isCheck);
}

export function createJourney(source: string): Promise<Answer<JourneyDetail>> {
  return write('POST', PATH, { source } satisfies Schemas['NewJourney'], isJourney);
}

export function changeJourney(
  id: string,
  to: Schemas['JourneyChange'],
): Promise<Answer<JourneyDetail>> {
  return write('PATCH', pathOf(id), to, isJourney);
}

export function deleteJourney(id: string): Promise<Answer<null>> {
  return change('DELETE', pathOf(id));
}

export function runJourney(id: string): Promise<Answer<Run>> {
  return write('POST', `${pathOf(id)}/run`, undefined, isRun);
}

export function readRuns(
  id: string,
  cursor: string | null,
  limit: number,
): Promise<Answer<Slice<Run>>> {
  return read(listPath(`${pathOf(id)}/runs`, { cursor }, limit), isSlice<Run>);
}

export function readRun(id: string): Promise<Answer<RunDetail>> {
  return read(`/api/runs/${encodeURIComponent(id)}`, isRun<RunDetail>);
}

/** Ends a run that waits or is under way. */
export function cancelRun(id: string): Promise<Answer<Run>> {
  return write('POST', `/api/runs/${encodeURIComponent(id)}/cancel`, undefined, isRun);
}

function isJourney(body: Body): body is Body & JourneyDetail {
  return typeof body['id'] === 'string' && typeof body['source'] === 'string';
}

function isCheck(body: Body): body is Body & JourneyCheck {
  return Array.isArray(body['mistakes']);
}

function isRun<Value extends Run>(body: Body): body is Body & Value {
  return typeof body['id'] === 'string' && typeof body['status'] === 'string';
}
