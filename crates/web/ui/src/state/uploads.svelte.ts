import { isSignedOut, type Answer, type Failure } from '../lib/api/client';
import { readMe } from '../lib/api/entry';
import type { TimeWindow } from '../lib/api/files';
import { sendFile, type Sending } from '../lib/api/upload';
import { fitting, problemOf, type Limits } from '../lib/reports/transcripts';
import { voice } from './voice.svelte';

export type UploadState =
  /** Until its turn comes; where the server wants a pause, until that is over. */
  | { readonly kind: 'waiting'; readonly until: number | null }
  | { readonly kind: 'sending'; readonly part: number }
  /** Every byte is there; the server has not said yet that it is stored. */
  | { readonly kind: 'storing' }
  | { readonly kind: 'sent'; readonly id: string }
  | { readonly kind: 'refused'; readonly failure: Pick<Failure, 'title'> & Partial<Failure>; readonly again: boolean };

export interface Upload {
  readonly key: number;
  readonly file: File;
  readonly window: TimeWindow | null;
  /** Who chose it. */
  readonly owner: string;
  readonly state: UploadState;
  /** How often the server put it off. */
  readonly pauses: number;
}

/** What is over stays until it is put away, but not more of it than this. */
const KEPT_LIMIT = 60;
/** Where the server names no pause. */
const PAUSE_S = 10;
/** After so many pauses it is left to the person to send it again. */
const PAUSES_LIMIT = 10;

/** Transcripts on their way, one after another; they go on while other pages are looked at. */
export class Uploads {
  items = $state.raw<readonly Upload[]>([]);
  /** How many did not even get into the queue. */
  left = $state(0);
  readonly underWay = $derived(this.items.some(({ state }) => isOpen(state)));
  #next = 0;
  #busy = false;
  #sending: { readonly key: number; readonly sending: Sending } | null = null;
  #pause: ReturnType<typeof setTimeout> | null = null;
  readonly #send: typeof sendFile;
  readonly #who: typeof whoIsSignedIn;

  constructor(send: typeof sendFile = sendFile, who: typeof whoIsSignedIn = whoIsSignedIn) {
    this.#send = send;
    this.#who = who;
  }

  /** Takes what its owner chose or dropped: what can't be sent is refused at once, in words. */
  add(files: readonly File[], window: TimeWindow | null, limits: Limits, owner: string): void {
    const waiting = this.items.filter(({ state }) => isOpen(state)).length;
    const { taken, left } = fitting(files, waiting);
    this.left = left;
    const added = taken.map((file) => this.#made(file, window, limits, owner));
    this.items = kept([...this.items, ...added]);
    this.#tell(added);
    void this.#work();
  }

  cancel(key: number): void {
    if (this.#sending?.key === key) this.#sending.sending.cancel();
    this.putAway(key);
    voice.show('Upload cancelled');
  }

  again(key: number): void {
    this.#set(key, { kind: 'waiting', until: null });
    void this.#work();
  }

  putAway(key: number): void {
    this.items = this.items.filter((item) => item.key !== key);
  }

  #made(file: File, window: TimeWindow | null, limits: Limits, owner: string): Upload {
    this.#next += 1;
    const problem = problemOf(file, limits);
    const state: UploadState =
      problem === null
        ? { kind: 'waiting', until: null }
        : { kind: 'refused', failure: { title: 'It was not sent', detail: problem }, again: false };
    return { key: this.#next, file, window, owner, state, pauses: 0 };
  }

  async #work(): Promise<void> {
    if (this.#busy || this.#pause !== null) return;
    const next = this.items.find(({ state }) => state.kind === 'waiting');
    if (next === undefined) {
      removeEventListener('beforeunload', hold);
      return;
    }
    addEventListener('beforeunload', hold);
    const { key, file } = next;
    this.#busy = true;
    const answer = await this.#deliver(next);
    this.#busy = false;
    if (answer?.ok === true) {
      this.#set(key, { kind: 'sent', id: answer.value });
      voice.say(`${file.name} is uploaded. Its report is queued.`);
    } else if (answer?.failure.status === 429 && next.pauses < PAUSES_LIMIT) {
      this.#wait(next, answer.failure.retryAfter ?? PAUSE_S);
    } else if (answer !== null) {
      this.#set(key, { kind: 'refused', failure: answer.failure, again: mayPass(answer.failure) });
    }
    void this.#work();
  }

  /**
   * Sends it while whoever chose it is the one who is signed in: the browser sends whatever session it has, and another
   * tab may have begun somebody else's. Null when it was cancelled.
   */
  async #deliver({ key, file, window, owner }: Upload): Promise<Answer<string> | null> {
    const who = await this.#who();
    if (!this.items.some((item) => item.key === key)) return null;
    if (!who.ok) return who;
    if (who.value !== owner) return { ok: false, failure: SOMEBODY_ELSE };
    const sending = this.#send(file, window, (part) => {
      this.#set(key, part >= 1 ? { kind: 'storing' } : { kind: 'sending', part });
    });
    this.#sending = { key, sending };
    this.#set(key, { kind: 'sending', part: 0 });
    const answer = await sending.done;
    this.#sending = null;
    return answer;
  }

  /** Too many came at once: all of them wait as long as the server says, and then go on. */
  #wait({ key, pauses }: Upload, seconds: number): void {
    const ms = Math.max(seconds, 1) * 1_000;
    this.#set(key, { kind: 'waiting', until: Date.now() + ms });
    this.items = this.items.map((item) => (item.key === key ? { ...item, pauses: pauses + 1 } : item));
    this.#pause = setTimeout(() => {
      this.#pause = null;
      void this.#work();
    }, ms);
  }

  #set(key: number, state: UploadState): void {
    this.items = this.items.map((item) => (item.key === key ? { ...item, state } : item));
  }

  #tell(added: readonly Upload[]): void {
    const sent = added.filter(({ state }) => state.kind === 'waiting');
    const [first] = sent;
    if (first === undefined) return;
    voice.say(sent.length === 1 ? `Uploading ${first.file.name}` : `Uploading ${String(sent.length)} transcripts`);
  }
}

/** Not the file was at fault, but how it came: too slowly, or it was given up on the way. */
const ON_THE_WAY: ReadonlySet<string | null> = new Set(['body_too_slow', 'upload_interrupted']);

/** What is wrong with the file itself stays wrong. */
function mayPass(failure: Failure): boolean {
  const { status, code } = failure;
  return status === null || status === 429 || status >= 500 || ON_THE_WAY.has(code) || isSignedOut(failure);
}

/** Whom an upload would belong to that is sent now. */
async function whoIsSignedIn(): Promise<Answer<string>> {
  const answer = await readMe();
  return answer.ok ? { ...answer, value: answer.value.user.id } : answer;
}

const SOMEBODY_ELSE: Failure = {
  title: 'It was not sent',
  detail: 'Somebody else has signed in in this browser since it was chosen. Sign in again yourself, and send it again.',
  requestId: null,
  code: null,
  status: null,
  retryAfter: null,
};

/** The browser asks before it throws away what is on its way. */
function hold(event: Event): void {
  event.preventDefault();
}

/** The oldest that are over make room; what is still to be sent stays, however long ago it was chosen. */
function kept(items: readonly Upload[]): readonly Upload[] {
  const over = items.filter(({ state }) => !isOpen(state));
  const gone = new Set(over.slice(0, Math.max(over.length - KEPT_LIMIT, 0)));
  return items.filter((item) => !gone.has(item));
}

function isOpen({ kind }: UploadState): boolean {
  return kind === 'waiting' || kind === 'sending' || kind === 'storing';
}

export const uploads = new Uploads();
