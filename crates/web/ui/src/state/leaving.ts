import { asking } from './ask.svelte';
import { router } from './router.svelte';

/**
 * Asks before what was typed is lost, until the returned function is called: by a question of its own where
 * another page is gone to, by the browser's where the whole page is closed or loaded again.
 */
export function holdTyped(): () => void {
  const release = router.guard((leave) => {
    asking.ask({
      title: 'Leave without saving?',
      text: 'What you have changed here is lost then.',
      action: 'Leave',
      otherwise: 'Stay here',
      danger: true,
      run: () => {
        leave();
        return Promise.resolve(null);
      },
    });
    return false;
  });
  const hold = (event: Event) => { event.preventDefault(); };
  addEventListener('beforeunload', hold);
  return () => {
    release();
    removeEventListener('beforeunload', hold);
  };
}
