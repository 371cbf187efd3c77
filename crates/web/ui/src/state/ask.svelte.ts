import type { Failure } from '../lib/api/client';
import type { Option } from '../lib/roles';
import { shell } from './shell.svelte';

/** Something that is done only after a yes, in words that name what will happen. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button that says yes says. */
  readonly action: string;
  /** What the other one says, where "Cancel" could be taken for the deed itself. */
  readonly otherwise?: string;
  readonly danger?: boolean;
  /** What has to be chosen beside the yes. */
  readonly choice?: {
    readonly label: string;
    readonly options: readonly Option[];
    readonly value: string;
    /** The value with which nothing is chosen yet. */
    readonly none?: string;
  };
  /** Does it, and says why it failed; null when it is done. */
  readonly run: (choice: string) => Promise<Failure | null>;
}

class Asking {
  question = $state.raw<Question | null>(null);

  ask(question: Question): void {
    this.question = question;
    shell.overlay = 'ask';
  }
}

export const asking = new Asking();
