import type { Identity, Me } from '../lib/api/accounts';
import { isSignedOut, noteSignedIn, whenSignedOut, type Failure } from '../lib/api/client';
import { logOut, readMe } from '../lib/api/entry';
import { isSamePerson, loginAddress, tokenOf, withFragment } from '../lib/entry';
import { PATHS } from '../lib/route';
import { forget, leaveForLater, remember, remembered, takeUp } from '../lib/storage';
import { onSignedIn, tellSignedIn } from '../lib/tabs';
import { Fields, wouldLose } from '../lib/typed';
import { atOnce } from './calmly';
import { onReadAgain, onReturn, readAgain } from './refresh';
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
  #reading: Promise<boolean> | null = null;
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
    // A server that does not answer is asked again after a pause, until it does.
    const soon = atOnce(() => this.read());
    const ask = () => {
      soon.ask();
    };
    const askIfUnknown = () => {
      if (this.me === null) ask();
    };
    const stops = [onReturn(ask), onSignedIn(ask), onReadAgain(askIfUnknown), this.#fields.watch(document)];
    return () => {
      soon.stop();
      for (const stop of stops) stop();
    };
  }

  /** Says whether it is known who is signed in, or that nobody is. All who ask at a time share one reading. */
  read(): Promise<boolean> {
    this.#missed = this.#reading !== null;
    this.#reading ??= this.#ask().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #ask(): Promise<boolean> {
    const answer = await readMe();
    if (this.#missed) {
      this.#missed = false;
      return this.#ask();
    }
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.#take(answer.value);
    return answer.ok || isSignedOut(answer.failure);
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

/**
 * Goes on to the dashboard when there is a session already, or another tab begins one, until the end is called. A
 * server that does not answer is asked again after a pause: it alone can say that there is none.
 */
export function enterWhenSignedIn(next: string | null): () => void {
  /** Another tab told of one, which a browser that refuses to remember does not know. */
  let told = false;
  const soon = atOnce(async () => {
    // Browsers note every refused request on the console, and most who come to sign in have no session.
    if (!told && remembered(SIGNED_IN) === null) return true;
    told = false;
    const isKnown = await enterIfSignedIn(next);
    told ||= !isKnown;
    return isKnown;
  });
  const stops = [
    onReturn(() => { soon.ask(); }),
    onSignedIn(() => {
      told = true;
      soon.ask();
    }),
  ];
  return () => {
    soon.stop();
    for (const stop of stops) stop();
  };
}

/** Says whether it is known that there is a session, or that there is none. */
async function enterIfSignedIn(next: string | null): Promise<boolean> {
  const answer = await readMe();
  if (answer.ok) goOnTo(next);
  else if (isSignedOut(answer.failure)) forget(SIGNED_IN);
  return answer.ok || isSignedOut(answer.failure);
}

function goOnTo(next: string | null): void {
  location.replace(withFragment(next ?? PATHS.now, takeUp(FRAGMENT)));
}
