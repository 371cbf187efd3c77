import { untrack } from 'svelte';
import type { Failure } from '../lib/api/client';
import { FILE_EVENTS, readFile, readReport, type Report, type Transcript } from '../lib/api/files';
import { newsOf } from '../lib/reports/state';
import { Told } from './told.svelte';
import { voice } from './voice.svelte';

/** One transcript as it stands, and its report once there is one. */
export class Reported {
  readonly file: Told<Transcript>;
  report = $state.raw<Report | null>(null);
  failure = $state.raw<Failure | null>(null);
  reading = $state(false);
  readonly #id: string;
  #read: string | null = null;
  #status: Transcript['status'] | undefined;

  constructor(id: string) {
    this.#id = id;
    this.file = new Told(FILE_EVENTS, () => readFile(id));
  }

  /** Follows it until the returned function is called. */
  run(): () => void {
    const stop = this.file.run();
    const unfollow = $effect.root(() => {
      $effect(() => {
        const file = this.file.value;
        if (file !== null) untrack(() => { this.#follow(file); });
      });
    });
    return () => {
      stop();
      unfollow();
    };
  }

  async readReport(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    const answer = await readReport(this.#id);
    this.reading = false;
    this.failure = answer.ok ? null : answer.failure;
    if (answer.ok) this.report = answer.value;
  }

  #follow(file: Transcript): void {
    const news = newsOf(this.#status, file);
    this.#status = file.status;
    if (news !== null) voice.say(news);
    if (file.status !== 'succeeded') {
      this.#read = null;
      this.report = null;
      return;
    }
    // One that was made anew is another.
    if (this.#read === file.processed_at) return;
    this.#read = file.processed_at;
    void this.readReport();
  }
}
