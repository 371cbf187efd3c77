/** Changes that follow so soon began together, whoever reported them first. */
const TOGETHER_MS = 1_000;

/**
 * Since when something fails that was failing before it came to be as it is: degraded before it went down,
 * or down before it got better. Null where it is as it is since it fails.
 */
export function failsSinceBefore(since: string, failing: string | null | undefined): string | null {
  if (failing === null || failing === undefined) return null;
  return Date.parse(since) - Date.parse(failing) > TOGETHER_MS ? failing : null;
}

/** What stands before what breaks without something: only what is down has broken it by now. */
export function impactTitle(status: string): string {
  return status === 'down' ? 'Impact' : 'If down';
}
