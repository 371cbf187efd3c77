import { readReportsState, type ReportsState } from '../lib/api/files';
import { LIMITS } from '../lib/reports/transcripts';
import { MAX_WINDOW_S } from '../lib/reports/window';
import { Reading } from './reading.svelte';

/** Whether reports are switched on hardly ever changes, and has no events. */
const EVERY_MS = 60_000;

/** What can be uploaded, as far as the server has said. */
class ReportLimits {
  readonly #reading = new Reading(readReportsState);
  readonly state = $derived<ReportsState>(
    this.#reading.value ?? {
      configured: true,
      how_to_configure: null,
      max_window_seconds: MAX_WINDOW_S,
      ...LIMITS,
    },
  );

  run(): () => void {
    return this.#reading.run(EVERY_MS);
  }
}

export const limits = new ReportLimits();
