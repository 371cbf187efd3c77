import type { PollAnswer } from './api/services';
import { grouped, latency } from './time';

/** What a poll brought, in one sentence. */
export function pollText({ success, latency_ms, error, dependencies_updated, status_changes }: PollAnswer): string {
  if (!success) return `The poll failed: ${error?.message ?? 'no reason was given'}`;
  const count = `${grouped(dependencies_updated)} ${dependencies_updated === 1 ? 'dependency' : 'dependencies'}`;
  const changed = status_changes.map(({ dependency_name, current }) => `${dependency_name} is ${current}`);
  const news = changed.length === 0 ? 'nothing changed' : changed.join(', ');
  return `Answered in ${latency(latency_ms)} with ${count}: ${news}`;
}
