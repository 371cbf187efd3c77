import { components } from './circles';
import { CALM_MS, type Spell, type Spells } from './spells';

/** Something that failed by itself, and all that failed because of it. */
export interface Incident {
  readonly id: string;
  /** When the first thing of it turned. */
  readonly begin: number;
  /** From when on its cause can be seen: it may have been noticed by others first. */
  readonly seen: number;
  /** Null while it lasts. */
  readonly to: number | null;
  /** The worst of all of it. */
  readonly status: 'degraded' | 'down';
  readonly causeStatus: 'degraded' | 'down';
  /** What failed by itself, the first few of it. */
  readonly names: readonly string[];
  readonly count: number;
  /** How many services failed because of it, and how many of those were down. */
  readonly hurt: number;
  readonly hurtDown: number;
}

const MOST_NAMED = 3;
/** Who fails because of more than these is told with the first of them. */
const MOST_CAUSES = 20;
/** Users may be polled before those who know of the cause. */
const AHEAD_MS = CALM_MS;

/**
 * What failed by itself, in the order of time: a spell of a node that leans on nothing that was ill when
 * it fell. Whoever fell because of it belongs to it, for as long as the cause lasts.
 */
export function incidentsOf(past: Spells): Incident[] {
  const { spells } = past;
  const leads = leadsOf(past);
  const { members, of } = components(leads, () => true);
  const causes: number[][] = [];
  const followers = new Map<number, number[]>();
  members.forEach((own, component) => {
    const others = own.flatMap((place) => leads[place] ?? []).map((place) => of[place] ?? component);
    // What a component leans on has a smaller number, so its causes are known by then.
    const found = others.filter((other) => other !== component).flatMap((other) => causes[other] ?? []);
    const roots = found.length === 0 ? [component] : [...new Set(found)].slice(0, MOST_CAUSES);
    causes.push(roots);
    for (const root of roots) {
      if (root !== component) followers.set(root, [...(followers.get(root) ?? []), ...own]);
    }
  });
  const take = (places: readonly number[]) => places.flatMap((place) => spells[place] ?? []);
  return members
    .flatMap((own, component) => {
      if (causes[component]?.[0] !== component) return [];
      return [incidentOf(past, take(own), take(followers.get(component) ?? []))];
    })
    .sort((one, other) => one.seen - other.seen || one.begin - other.begin);
}

function incidentOf({ nameOf, isService }: Spells, cause: readonly Spell[], followers: readonly Spell[]): Incident {
  const seen = earliest(cause);
  const hurt = followers.filter(({ node }) => isService(node));
  const worst = (all: readonly Spell[]) => (all.some((one) => one.worst === 'down') ? 'down' : 'degraded');
  const named = [...cause].sort((one, other) => one.from - other.from);
  return {
    id: `${named[0]?.node ?? ''} ${String(seen)}`,
    begin: Math.min(seen, earliest(followers)),
    seen,
    to: endOf(cause, followers),
    status: worst([...cause, ...followers]),
    causeStatus: worst(cause),
    names: named.slice(0, MOST_NAMED).map(({ node }) => nameOf(node)),
    count: cause.length,
    hurt: countOf(hurt),
    hurtDown: countOf(hurt.filter((one) => one.worst === 'down')),
  };
}

/** Where nobody can tell of the cause any more, it lasts as long as who fell because of it. */
function endOf(cause: readonly Spell[], followers: readonly Spell[]): number | null {
  const all = cause.some(({ isLost }) => isLost) ? [...cause, ...followers] : cause;
  return all.reduce<number | null>((end, { to }) => (end === null || to === null ? null : Math.max(end, to)), -Infinity);
}

function earliest(spells: readonly Spell[]): number {
  return spells.reduce((first, { from }) => Math.min(first, from), Infinity);
}

function countOf(spells: readonly Spell[]): number {
  return new Set(spells.map(({ node }) => node)).size;
}

/** For each spell those that it may have come from. */
function leadsOf({ spells, leansOn }: Spells): number[][] {
  const places = new Map<string, number[]>();
  spells.forEach(({ node }, place) => {
    const known = places.get(node);
    if (known === undefined) places.set(node, [place]);
    else known.push(place);
  });
  return spells.map((spell) =>
    [...leansOn(spell.node)].flatMap((node) => {
      const all = places.get(node) ?? [];
      // They are in the order of time, and do not overlap: only the last that had begun can lead.
      const found = lastBefore(all, spell.from + AHEAD_MS, (place) => spells[place]?.from ?? Infinity);
      const lead = found === null ? undefined : spells[found];
      return found !== null && lead !== undefined && isLed(spell, lead) ? [found] : [];
    }),
  );
}

/** Whether one fell while the other was ill, or just before it was known to be. */
function isLed(spell: Spell, lead: Spell): boolean {
  return (lead.to === null || lead.to >= spell.from) && (spell.to === null || spell.to >= lead.from);
}

function lastBefore(places: readonly number[], time: number, fromOf: (place: number) => number): number | null {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fromOf(places[middle] ?? -1) <= time) low = middle + 1;
    else high = middle;
  }
  return places[low - 1] ?? null;
}
