import { readReportsState, type ReportsState } from '../lib/api/files';
import { LIMITS, type Limits } from '../lib/reports/transcripts';
import { MAX_WINDOW_S } from '../lib/reports/window';
import { Told } from './told.svelte';

/** What can be uploaded, as far as the server has said. */
class ReportLimits {
  /** It changes only with a restart of the server, after which all is read again. */
  readonly #told = new Told([], readReportsState);
  readonly state = $derived<Limits & Omit<ReportsState, keyof Limits>>(
    this.#told.value ?? {
      configured: true,
      how_to_configure: null,
      max_window_seconds: MAX_WINDOW_S,
      ...LIMITS,
    },
  );

  run(): () => void {
    return this.#told.run();
  }
}

export const limits = new ReportLimits();
