import { judge, type Judged } from '../../lib/reports/window';
import { limits } from '../../state/limits.svelte';
import { live } from '../../state/live.svelte';
import { router } from '../../state/router.svelte';
import { session } from '../../state/session.svelte';
import { uploads } from '../../state/uploads.svelte';
import { voice } from '../../state/voice.svelte';

/** The time of the incident that stands in the address of the list. */
export function chosenWindow(): Judged {
  const { from, to } = router.route.where;
  return judge(from, to, live.serverNow, limits.state.max_window_seconds);
}

/** Takes files that were chosen or dropped, and shows where they go. */
export function take(files: readonly File[]): void {
  if (files.length === 0) return;
  if (!limits.state.configured) {
    voice.show('Nothing was sent: reports are switched off on this server');
    return;
  }
  const chosen: Judged = router.route.page === 'reports' ? chosenWindow() : { kind: 'none' };
  if (chosen.kind === 'wrong') {
    voice.show('Nothing was sent: the time of the incident is not right');
    document.querySelector<HTMLElement>('[data-window] [aria-invalid]')?.focus();
    return;
  }
  const { me } = session;
  if (me === null) {
    voice.show('Nothing was sent: it is not known yet who is signed in');
    return;
  }
  uploads.add(files, chosen.kind === 'fit' ? chosen.window : null, limits.state, me.user.id);
  if (router.route.page !== 'reports') router.go('reports');
}
