import type { Me } from '../lib/api/accounts';
import { noteSignedIn, whenSignedOut, type Failure } from '../lib/api/client';
import { logOut, readMe } from '../lib/api/entry';
import { loginAddress, tokenOf, withFragment } from '../lib/entry';
import { PATHS } from '../lib/route';
import { forget, leaveForLater, remember, remembered, takeUp } from '../lib/storage';
import { Fields, wouldLose } from '../lib/typed';
import { keepFresh, onReturn, readAgain } from './refresh';
import { router } from './router.svelte';
import { shell } from './shell.svelte';
import { voice } from './voice.svelte';

const SIGNED_IN = 'signed-in';
/** What stood behind the address that asked for a session. */
const FRAGMENT = 'fragment';

/** Who is signed in, as far as the server has said. */
class Session {
  me = $state.raw<Me | null>(null);
  failure = $state.raw<Failure | null>(null);
  readonly admin = $derived(this.me?.user.role === 'admin');
  /** May change what is watched. */
  readonly editor = $derived(this.admin || this.me?.user.role === 'editor');
  /** How often a session was begun on this page. */
  begun = $state(0);
  readonly #fields = new Fields();
  #reading = false;
  #signingOut = false;
  #leaving = false;

  run(): () => void {
    whenSignedOut(() => {
      // Whoever signs out here goes where they meant to, whoever tells it first.
      if (this.#signingOut) return;
      // What was typed is not thrown away: the session is begun again on top of it.
      const isTyped = router.isGuarded || wouldLose(this.#fields.in(document));
      if (this.me !== null && isTyped) shell.overlay = 'sign-in';
      else this.#askToSignIn();
    });
    void this.read();
    const stopTrying = keepFresh(() => {
      if (this.me === null) void this.read();
    });
    const stop = onReturn(() => void this.read());
    const stopWatching = this.#fields.watch(document);
    return () => {
      stopWatching();
      stopTrying();
      stop();
    };
  }

  async read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const answer = await readMe();
    this.#reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (!answer.ok) return;
    // Somebody else signed in in another tab: nothing of the first one's may stay.
    if (this.me !== null && this.me.user.id !== answer.value.user.id) location.reload();
    this.me = answer.value;
    remember(SIGNED_IN, 'yes');
  }

  /** The session that ended was begun again without leaving the page. */
  goOn(user: string): void {
    // Somebody else: nothing of the first one's may stay.
    if (user !== this.me?.user.id) {
      location.assign(PATHS.now);
      return;
    }
    this.begun += 1;
    noteSignedIn();
    shell.close();
    readAgain();
    voice.show('Signed in again: nothing was lost');
  }

  async signOut(): Promise<void> {
    this.#signingOut = true;
    const answer = await logOut();
    this.#signingOut = false;
    if (answer.ok) this.#leave(PATHS.login);
    else voice.show(answer.failure.title);
  }

  #askToSignIn(): void {
    keepFragment(location.pathname);
    this.#leave(loginAddress(location.pathname, location.search));
  }

  /** A whole new page: nothing of what one person saw stays for the next. */
  #leave(address: string): void {
    forget(SIGNED_IN);
    if (!this.#leaving) location.assign(address);
    this.#leaving = true;
  }
}

export const session = new Session();

/** Keeps the token behind an address while somebody signs in: in this tab alone, no address holds it. */
export function keepFragment(path: string): void {
  if (tokenOf(location.hash) !== null) leaveForLater(FRAGMENT, path + location.hash);
}

/** Notes that this browser has a session, and goes on to the dashboard as a whole new page. */
export function enter(next: string | null): void {
  remember(SIGNED_IN, 'yes');
  location.replace(withFragment(next ?? PATHS.now, takeUp(FRAGMENT)));
}

/**
 * Goes on to the dashboard when there is a session already. Asked only where one was seen before:
 * browsers note every refused request on the console, and most who come to sign in have none.
 */
export async function enterIfSignedIn(next: string | null): Promise<void> {
  if (remembered(SIGNED_IN) === null) return;
  const answer = await readMe();
  if (answer.ok) enter(next);
  else if (answer.failure.status === 401) forget(SIGNED_IN);
}
