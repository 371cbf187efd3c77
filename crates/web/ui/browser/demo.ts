import { signIn, type Signed } from './people';
import { Program } from './program';

/** The first page is alive within 10 s on a machine that does nothing else. */
const START_LIMIT_MS = 120_000;
/** What it prints: a link with its address, and whom it lets in. */
const LINK = /(http:\/\/127\.0\.0\.1:\d+)\/login#[\w-]+/;
const ACCOUNT = /After that: (\S+), password (\S+)/;

/** `mainstay demo` on a free port. */
export class Demo {
  readonly #program = new Program();
  readonly #flags: readonly string[];
  origin = '';
  /** What signs in once. */
  link = '';

  constructor(flags: readonly string[]) {
    this.#flags = flags;
  }

  async start(): Promise<this> {
    this.#program.start(['demo', ...this.#flags]);
    const [link, origin = ''] = await this.#program.find(LINK, START_LIMIT_MS);
    [this.link, this.origin] = [link, origin];
    return this;
  }

  /** Signs in by the password, so that the link is left for whoever wants to try it. */
  async enter(): Promise<Signed> {
    const [, email = '', password = ''] = await this.#program.find(ACCOUNT, START_LIMIT_MS);
    return signIn(this.origin, email, password);
  }

  /** Lets a story that was started with `--cue` be told up to this second. */
  cue(second: number): void {
    this.#program.tell(String(second));
  }

  remove(): Promise<void> {
    return this.#program.remove();
  }
}
