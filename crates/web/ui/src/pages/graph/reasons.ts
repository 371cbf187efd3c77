import type { Suggestion } from '../../lib/api/graph';

/** Why a thing may be a service, in words. */
export function reasonText(reasons: Suggestion['reasons']): string {
  const texts = reasons.map((reason) => {
    if (reason.kind === 'same_name') return 'they are called the same';
    if (reason.kind === 'same_host') return `it names its host ${reason.host}`;
    return `both are called ${reason.words.join(' ')}`;
  });
  return texts.length === 0 ? 'they look alike' : texts.join(', and ');
}
