import type { Identity, Me } from '../lib/api/accounts';
import { noteSignedIn, whenSignedOut, type Failure } from '../lib/api/client';
import { logOut, readMe } from '../lib/api/entry';
import { isSamePerson, loginAddress, tokenOf, withFragment } from '../lib/entry';
import { PATHS } from '../lib/route';
import { forget, leaveForLater, remember, remembered, takeUp } from '../lib/storage';
import { onSignedIn, tellSignedIn } from '../lib/tabs';
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
  /** Somebody asked while an answer was under way, which may be older than what they heard of. */
  #missed = false;
  #signingOut = false;
  #leaving = false;

  run(): () => void {
    whenSignedOut(() => {
      // Whoever signs out here goes where they meant to, whoever tells it first.
      if (this.#signingOut) return;
      // What was typed is not thrown away: the session is begun again on top of it.
      if (this.me !== null && this.#isTyped()) shell.overlay = 'sign-in';
      else this.#askToSignIn();
    });
    void this.read();
    const stopTrying = keepFresh(() => {
      if (this.me === null) void this.read();
    });
    const read = () => void this.read();
    const stops = [stopTrying, onReturn(read), onSignedIn(read), this.#fields.watch(document)];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async read(): Promise<void> {
    this.#missed = this.#reading;
    if (this.#reading) return;
    this.#reading = true;
    const answer = await readMe();
    this.#reading = false;
    if (this.#missed) return this.read();
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.#take(answer.value);
  }

  /** The session that ended was begun again on this page. */
  signedIn(user: Identity): void {
    tellSignedIn();
    this.#goOn(user);
  }

  async signOut(): Promise<void> {
    this.#signingOut = true;
    const answer = await logOut();
    this.#signingOut = false;
    if (answer.ok) this.#leave(PATHS.login);
    else voice.show(answer.failure.title);
  }

  #take(me: Me): void {
    const isOther = this.me !== null && this.me.user.id !== me.user.id;
    // Who waits to sign in again does not have to where another tab has done it.
    const waits = shell.overlay === 'sign-in' || (isOther && this.#isTyped());
    if (waits && this.#isSame(me.user)) this.#goOn(me.user);
    // Somebody else signed in in another tab: nothing of the first one's may stay.
    else if (isOther) location.reload();
    this.me = me;
    remember(SIGNED_IN, 'yes');
  }

  #goOn(user: Identity): void {
    // Somebody else: nothing of the first one's may stay.
    if (!this.#isSame(user) || this.me === null) {
      location.assign(PATHS.now);
      return;
    }
    this.me = { ...this.me, user };
    this.begun += 1;
    noteSignedIn();
    shell.close();
    readAgain();
    voice.show('Signed in again: what you typed is still there');
  }

  #isSame(user: Identity): boolean {
    return this.me !== null && isSamePerson(this.me.user, user);
  }

  #isTyped(): boolean {
    return router.isGuarded || wouldLose(this.#fields.in(document));
  }

  #askToSignIn(): void {
    keepFragment(location.pathname);
    this.#leave(loginAddress(location.pathname, location.search, remembered(SIGNED_IN) !== null));
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
  tellSignedIn();
  goOnTo(next);
}

/** Goes on to the dashboard when there is a session already, or another tab begins one, until the end is called. */
export function enterWhenSignedIn(next: string | null): () => void {
  const seen = () => void enterIfSeen(next);
  seen();
  const stops = [onReturn(seen), onSignedIn(() => void enterIfSignedIn(next))];
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Asked only where a session was seen before: browsers note every refused request on the console, and
 * most who come to sign in have none.
 */
async function enterIfSeen(next: string | null): Promise<void> {
  if (remembered(SIGNED_IN) !== null) await enterIfSignedIn(next);
}

async function enterIfSignedIn(next: string | null): Promise<void> {
  const answer = await readMe();
  if (answer.ok) goOnTo(next);
  else if (answer.failure.status === 401) forget(SIGNED_IN);
}

function goOnTo(next: string | null): void {
  location.replace(withFragment(next ?? PATHS.now, takeUp(FRAGMENT)));
}
