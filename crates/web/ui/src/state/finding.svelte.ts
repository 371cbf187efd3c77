import { choicesFor, type Choice } from '../lib/commands';
import { lineWord } from '../lib/board';
import { find, type Findable } from '../lib/find';
import { compared } from '../lib/names';
import { nodeAt, thingOf } from '../lib/route';
import { SERVICE_STATUSES } from '../lib/services';
import { statusOf, type Status } from '../lib/status';
import { act } from './act';
import { board } from './board.svelte';
import { things } from './leaning.svelte';
import { router } from './router.svelte';
import { session } from './session.svelte';

/** Something that the palette leads to. */
export interface Found extends Findable {
  readonly id: string;
  /** Which of them belong together while nothing is typed. */
  readonly group: string;
  /** How it is; null for what is no such thing. */
  readonly status: Status | null;
  /** What stands at its end. */
  readonly about: string;
  readonly does: Choice['does'] | null;
  readonly run: () => void;
}

/** Pages and actions first, then what is wrong, of services before what they lean on. */
const SERVICES_RANK = 10;
const THINGS_RANK = 20;
const BAD_FIRST: readonly string[] = [...SERVICE_STATUSES, 'skipped'];

/** All that can be found: worked out when it changes, not at every key. */
class Finding {
  readonly choices = $derived(
    choicesFor({ edit: session.editor, admin: session.admin }).map(ofChoice),
  );
  readonly #services = $derived(
    (board.lines ?? []).map((line): Found => ({
      id: line.id,
      title: line.name,
      key: line.nameKey,
      words: line.teamKey,
      rank: SERVICES_RANK + BAD_FIRST.indexOf(line.status),
      group: 'service',
      status: statusOf(line.status),
      about: [lineWord(line), line.team].filter(Boolean).join(' · '),
      does: null,
      run: () => {
        router.go('service', { id: line.id });
      },
    })),
  );
  readonly #things = $derived(
    things.groups.map(({ canonical_name: name, status, counts }): Found => ({
      id: `thing:${name}`,
      title: name,
      key: name.toLowerCase(),
      words: '',
      rank: THINGS_RANK + BAD_FIRST.indexOf(status),
      group: 'thing',
      status: statusOf(status),
      about: leaning(Object.values(counts).reduce((sum, count) => sum + count, 0)),
      does: null,
      run: () => {
        router.visit(nodeAt(serviceOf(name) ?? thingOf(name)));
      },
    })),
  );
  readonly #all = $derived([...this.choices, ...this.#services, ...this.#things]);

  /** What a needle finds, the best first; all pages and actions while there is none. */
  find(needle: string): readonly Found[] {
    return needle.trim() === '' ? this.choices : find(needle, this.#all);
  }

  /** Keeps it true until the returned function is called. */
  use(): () => void {
    const stops = [things.use(), board.use()];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

/** What goes by the name of a service is that service. */
function serviceOf(name: string): string | undefined {
  const key = compared(name);
  return board.lines?.find(({ nameKey }) => nameKey === key)?.id;
}

function leaning(count: number): string {
  return count === 1 ? '1 service leans on it' : `${String(count)} services lean on it`;
}

function ofChoice({ title, words, group, does }: Choice): Found {
  return {
    id: title,
    title,
    key: title.toLowerCase().replace(/^(go to|open|show) /, ''),
    words: `${title.toLowerCase()} ${words}`,
    rank: 0,
    group,
    status: null,
    about: '',
    does,
    run: () => {
      if (typeof does === 'string') act(does);
      else location.assign(does.open);
    },
  };
}

export const finding = new Finding();
