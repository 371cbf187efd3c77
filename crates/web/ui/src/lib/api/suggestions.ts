import type { Slice } from './accounts';
import { change, read, write, type Answer, type Body } from './client';
import { isSlice } from './list';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Suggestion = Schemas['GraphSuggestion'];
export type Reason = Schemas['GraphReason'];
type Confirmed = Schemas['Confirmed'];

const PATH = '/api/graph/suggestions';

/** Which thing that services lean on may be a service that is watched. */
export function readSuggestions(): Promise<Answer<Slice<Suggestion>>> {
  return read(PATH, isSlice<Suggestion>);
}

/** Says that the thing is the service. */
export function confirmSuggestion({ key, service_id }: Suggestion): Promise<Answer<Confirmed>> {
  return write('POST', `${PATH}/confirm`, { key, service_id }, isConfirmed);
}

/** Says that it is not. */
export function dismissSuggestion({ key, service_id }: Suggestion): Promise<Answer<null>> {
  return change('POST', `${PATH}/dismiss`, { key, service_id });
}

function isConfirmed(body: Body): body is Body & Confirmed {
  return typeof body['linked'] === 'number';
}
