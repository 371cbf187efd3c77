import type { Where } from '../../lib/route';
import { router } from '../../state/router.svelte';

/** The address with these changes; what is empty is not in it. */
export function whereWith(change: Where): Where {
  const all = Object.entries({ ...router.route.where, ...change });
  return Object.fromEntries(all.filter(([, value]) => value !== ''));
}

export function setWhere(change: Where): void {
  router.change({ where: whereWith(change) });
}
