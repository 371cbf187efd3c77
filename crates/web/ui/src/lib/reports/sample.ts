import type { Transcript } from '../api/files';

/** A transcript for tests. */
export function transcript(more: Partial<Transcript> = {}): Transcript {
  return {
    id: '0193a7c1-8f0e-7c3a-9a55-1d2f3a4b5c6d',
    name: 'incident-call.vtt',
    title: null,
    size_bytes: 4_096,
    status: 'queued',
    window: null,
    attempts: 0,
    max_attempts: 4,
    next_run_at: null,
    last_error: null,
    made_with: null,
    created_at: '2026-11-15T20:58:00.000Z',
    queued_at: '2026-11-15T20:58:01.000Z',
    started_at: null,
    processed_at: null,
    ...more,
  };
}
