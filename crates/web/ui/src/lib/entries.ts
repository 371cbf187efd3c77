import type { Journey } from './api/journeys';
import type { Findable } from './find';
import type { ShownNet, ShownWorker } from './fleet/reduce';
import { checksOf, glyphOf, netGlyph, placeOf } from './fleet/words';
import { statusOf as journeyStatus, wordOf } from './journeys/runs';
import { at, type Route } from './route';
import { SERVICE_STATUSES } from './services';
import type { Status } from './status';

/** Something with a state that the palette leads to. */
export interface Entry extends Findable {
  readonly id: string;
  /** Which of them belong together. */
  readonly group: string;
  readonly status: Status;
  /** What stands at its end. */
  readonly about: string;
  readonly leads: Route;
}

/** Of what is called alike: services before what they lean on, and both before what looks at them. */
const RANKS = { service: 10, thing: 20, journey: 30, worker: 40, net: 50 };
const BAD_FIRST: readonly string[] = [...SERVICE_STATUSES, 'skipped'];

/** What is wrong comes first among its kind. */
export function rankOf(kind: keyof typeof RANKS, status: string): number {
  return RANKS[kind] + BAD_FIRST.indexOf(status);
}

export function journeyEntry(journey: Pick<Journey, 'id' | 'name' | 'outcome' | 'not_run_since' | 'is_enabled' | 'touches'>): Entry {
  return entry('journey', journey, journeyStatus(journey), {
    words: `journey ${journey.touches.join(' ')}`,
    about: `journey, ${wordOf(journey)}`,
    leads: at('journey', { id: journey.id }),
  });
}

export function workerEntry(worker: ShownWorker): Entry {
  return entry('worker', worker, glyphOf(worker), {
    words: `worker ${placeOf(worker)} ${worker.provider}`,
    about: `worker, ${worker.status} · ${placeOf(worker)}`,
    leads: { ...at('fleet'), row: worker.id, inspector: true },
  });
}

export function netEntry(net: ShownNet, worker: Pick<ShownWorker, 'name'> | undefined): Entry {
  return entry('net', net, netGlyph(net), {
    words: `net ${worker?.name ?? ''} ${checksOf(net).services.join(' ')}`,
    about: `net, ${net.load_state} · ${worker?.name ?? 'no worker'}`,
    leads: { ...at('nets'), row: net.id, inspector: true },
  });
}

function entry(
  kind: keyof typeof RANKS,
  { id, name }: { readonly id: string; readonly name: string },
  status: Status,
  { words, about, leads }: Pick<Entry, 'words' | 'about' | 'leads'>,
): Entry {
  return {
    id: `${kind}:${id}`,
    title: name,
    key: name.toLowerCase(),
    words: words.toLowerCase(),
    rank: rankOf(kind, status),
    group: kind,
    status,
    about,
    leads,
  };
}
