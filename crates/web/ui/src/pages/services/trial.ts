import type { Trial } from '../../lib/api/services';
import { endpointProblem, mappingProblem, type Draft } from './form';

export type Source = 'url' | 'body';

/** What can be tried out, or why nothing can yet. */
export type Attempt = { readonly trial: Trial } | { readonly why: string };

export function attempt(
  draft: Pick<Draft, 'endpoint' | 'format' | 'mapping'>,
  source: Source,
  sample: string,
): Attempt {
  const mapping = draft.format === 'schema' ? mappingProblem(draft.mapping) : null;
  if (mapping !== null) return { why: mapping };
  const how = {
    format: draft.format,
    ...(draft.format === 'schema'
      ? { schema_config: JSON.parse(draft.mapping) as Record<string, never> }
      : {}),
  };
  if (source === 'body') {
    if (sample.trim() === '') return { why: 'Paste what the endpoint answers.' };
    return { trial: { ...how, body: sample } };
  }
  const endpoint = endpointProblem(draft.endpoint);
  if (endpoint !== null) return { why: 'Give the endpoint first, or paste a sample.' };
  return { trial: { ...how, url: draft.endpoint.trim() } };
}
