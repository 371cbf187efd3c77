import { choicesFor, type Choice } from '../lib/commands';
import { pollService } from '../lib/api/services';
import { lineWord } from '../lib/board';
import { comesFirst, DEED_LIMIT, deedTitle, wantedIn, type Deed, type Wanted } from '../lib/deeds';
import { journeyEntry, netEntry, rankOf, workerEntry, type Entry } from '../lib/entries';
import { find, type Findable } from '../lib/find';
import { isolated } from '../lib/isolate';
import { compared } from '../lib/names';
import { leanText } from '../lib/leaning';
import { pollText } from '../lib/poll';
import { at, nodeAt, thingOf } from '../lib/route';
import { statusOf, type Status } from '../lib/status';
import { act } from './act';
import { board } from './board.svelte';
import { fleet } from './fleet.svelte';
import { knownJourneys } from './journeys.svelte';
import { reported, things } from './leaning.svelte';
import { readAgain } from './refresh';
import { router } from './router.svelte';
import { session } from './session.svelte';
import { voice } from './voice.svelte';

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
  /** Its node in the graph, and whether it can be polled; null for what is no such thing. */
  readonly node: { readonly id: string; readonly polled: boolean } | null;
  readonly run: () => void;
}

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
      words: `${line.teamKey}\n${reported.names.get(line.nameKey) ?? ''}`,
      rank: rankOf('service', line.status),
      group: 'service',
      status: statusOf(line.status),
      about: [lineWord(line), line.team].filter(Boolean).join(' · '),
      does: null,
      node: { id: line.id, polled: line.active },
      run: () => {
        router.go('service', { id: line.id });
      },
    })),
  );
  readonly #things = $derived(
    things.groups.map(({ canonical_name: name, status, counts }): Found => ({
      node: { id: serviceOf(name) ?? thingOf(name), polled: false },
      id: `thing:${name}`,
      title: name,
      key: name.toLowerCase(),
      words: reported.names.get(compared(name)) ?? '',
      rank: rankOf('thing', status),
      group: 'thing',
      status: statusOf(status),
      about: leanText(Object.values(counts).reduce((sum, count) => sum + count, 0)),
      does: null,
      run: () => {
        router.visit(nodeAt(serviceOf(name) ?? thingOf(name)));
      },
    })),
  );
  readonly #journeys = $derived(knownJourneys.items.map((one) => ofEntry(journeyEntry(one))));
  readonly #workers = $derived((fleet.workers ?? []).map((one) => ofEntry(workerEntry(one))));
  readonly #nets = $derived(
    (fleet.nets ?? []).map((net) => ofEntry(netEntry(net, fleet.worker(net.worker_id)))),
  );
  /** Pages and actions first, for they have the lowest rank. */
  readonly #all = $derived([
    ...this.choices,
    ...this.#services,
    ...this.#things,
    ...this.#journeys,
    ...this.#workers,
    ...this.#nets,
  ]);

  /** What a needle finds, the best first; all pages and actions while there is none. */
  find(needle: string): readonly Found[] {
    if (needle.trim() === '') return this.choices;
    const found = find(needle, this.#all);
    const wanted = wantedIn(needle);
    if (wanted === null) return this.#withDeeds(needle, found);
    const deeds = this.#deedsFor(wanted);
    if (comesFirst(wanted)) return [...deeds, ...found];
    const pages = found.filter(({ does }) => does !== null);
    return [...pages, ...deeds, ...found.filter(({ does }) => does === null)];
  }

  /** What is named in full is followed by what can be done to it. */
  #withDeeds(needle: string, found: readonly Found[]): readonly Found[] {
    const [first, ...rest] = found;
    if (first === undefined || first.key !== compared(needle)) return found;
    const deeds = (['poll', 'show'] as const).filter((deed) => allows(deed, first));
    return [first, ...deeds.map((deed) => ({ ...ofDeed(deed, first), about: '' })), ...rest];
  }

  #deedsFor({ deed, sought }: Wanted): Found[] {
    const known = [...this.#services, ...this.#things].filter((item) => allows(deed, item));
    const meant = [...new Map(known.toReversed().map((item) => [item.node?.id, item])).values()].toReversed();
    const best = sought === '' ? meant.sort((one, other) => one.rank - other.rank) : find(sought, meant);
    return best.slice(0, DEED_LIMIT).map((item) => ofDeed(deed, item));
  }

  /** Keeps it true until the returned function is called. */
  use(): () => void {
    const stops = [things.use(), reported.use(), board.use(), fleet.use(), knownJourneys.use()];
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

function allows(deed: Deed, { node }: Found): boolean {
  return node !== null && (deed === 'show' || (node.polled && session.editor));
}

function ofDeed(deed: Deed, { id, title, status, about, rank, node }: Found): Found {
  const says = deedTitle(deed, title);
  return {
    id: `${deed}:${id}`,
    title: says,
    key: says.toLowerCase(),
    words: '',
    rank,
    group: deed,
    status,
    about,
    does: null,
    node: null,
    run: () => {
      if (deed === 'poll') void poll(node?.id ?? '', title);
      else router.visit({ ...at('graph'), row: node?.id ?? null, inspector: true });
    },
  };
}

async function poll(id: string, name: string): Promise<void> {
  voice.show(`Polling ${isolated(name)}…`);
  const answer = await pollService(id);
  readAgain();
  voice.show(`${isolated(name)}: ${answer.ok ? pollText(answer.value) : answer.failure.title}`);
}

function ofEntry({ leads, ...entry }: Entry): Found {
  return {
    ...entry,
    does: null,
    node: null,
    run: () => {
      router.visit(leads);
    },
  };
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
    node: null,
    run: () => {
      if (typeof does === 'string') act(does);
      else location.assign(does.open);
    },
  };
}

export const finding = new Finding();
