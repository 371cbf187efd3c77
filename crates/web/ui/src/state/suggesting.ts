import type { Failure } from '../lib/api/client';
import { confirmSuggestion, dismissSuggestion, type Suggestion } from '../lib/api/suggestions';
import { isolated } from '../lib/isolate';
import { grouped } from '../lib/time';
import { voice } from './voice.svelte';

/** Says whether a thing is the service that it may be; null when that was taken. */
export async function decide(suggestion: Suggestion, yes: boolean): Promise<Failure | null> {
  const [name, service] = [isolated(suggestion.name), isolated(suggestion.service_name)];
  if (!yes) {
    const answer = await dismissSuggestion(suggestion);
    if (!answer.ok) return answer.failure;
    voice.show(`${name} is not ${service}: it is not suggested again`);
    return null;
  }
  const answer = await confirmSuggestion(suggestion);
  if (!answer.ok) return answer.failure;
  const { linked } = answer.value;
  voice.show(`${grouped(linked)} ${linked === 1 ? 'dependency is' : 'dependencies are'} ${service} now`);
  return null;
}
